// Dialog that creates an API key and shows it once.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { useEdited } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Select, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { CopyableText } from './reading-apps.tsx'

type Permission = Schemas['Permission']
type Purpose = 'reading' | 'readOnly' | 'all'
type Lifetime = 'unlimited' | '30' | '365'

const readPermissions: readonly Permission[] = [
  'LibrariesRead',
  'SeriesRead',
  'BooksRead',
  'PagesRead',
  'ProgressRead',
  'CollectionsRead',
  'ReadListsRead',
]
const permissionsOf: Record<Purpose, readonly Permission[] | null> = {
  reading: [...readPermissions, 'ProgressWrite'],
  readOnly: readPermissions,
  all: null,
}

type KeyDialogProps = { onClose: () => void; onCreated: () => void }

export function KeyDialog({ onClose, onCreated }: KeyDialogProps) {
  const [name, setName] = useState('')
  const [purpose, setPurpose] = useState<Purpose>('reading')
  const [lifetime, setLifetime] = useState<Lifetime>('unlimited')
  const [created, setCreated] = useState<string | null>(null)
  const create = async () => {
    const permissions = permissionsOf[purpose]?.filter(permission => can(permission)) ?? null
    const expiresAt =
      lifetime === 'unlimited'
        ? null
        : new Date(Date.now() + Number(lifetime) * 86_400_000).toISOString()
    const key = await body(api.POST('/api/v1/api-keys', { body: { name, permissions, expiresAt } }))
    setCreated(key.key)
    onCreated()
  }
  const { isEdited } = useEdited([name, purpose, lifetime])
  if (created !== null)
    return (
      <Dialog title={t('keys.created')} onClose={onClose}>
        <p>{t('keys.createdText')}</p>
        <div class="key-secret">
          <CopyableText text={created} />
        </div>
        <Button variant="primary" onClick={onClose}>
          {t('action.done')}
        </Button>
      </Dialog>
    )
  return (
    <Dialog title={t('keys.create')} onClose={onClose} isUnsaved={isEdited}>
      <Form onSubmit={create}>
        <TextField
          label={t('field.name')}
          hint={t('keys.nameHint')}
          required
          maxLength={100}
          autofocus
          value={name}
          onInput={setName}
        />
        <Select<Purpose>
          label={t('keys.purpose')}
          value={purpose}
          options={(['reading', 'readOnly', 'all'] as const).map(value => ({
            value,
            text: t(`keys.purpose.${value}`),
          }))}
          onChange={setPurpose}
        />
        <Select<Lifetime>
          label={t('keys.lifetime')}
          value={lifetime}
          options={[
            { value: 'unlimited', text: t('keys.unlimited') },
            { value: '30', text: t('count.days', { count: 30 }) },
            { value: '365', text: t('count.days', { count: 365 }) },
          ]}
          onChange={setLifetime}
        />
        <Button type="submit" variant="primary">
          {t('keys.create')}
        </Button>
      </Form>
    </Dialog>
  )
}
