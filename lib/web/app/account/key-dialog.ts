// Dialog that creates an API key and shows it once.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { useEdited } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Dialog } from '../ui/dialog.ts'
import { Select, TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'
import { CopyableText } from './reading-apps.ts'

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
    return h(
      Dialog,
      { title: t('keys.created'), onClose },
      h('p', null, t('keys.createdText')),
      h('div', { class: 'key-secret' }, h(CopyableText, { text: created })),
      h(Button, { variant: 'primary', onClick: onClose }, t('action.done')),
    )
  return h(
    Dialog,
    { title: t('keys.create'), onClose, isUnsaved: isEdited },
    h(
      Form,
      { onSubmit: create },
      h(TextField, {
        label: t('keys.name'),
        hint: t('keys.nameHint'),
        required: true,
        maxLength: 100,
        autofocus: true,
        value: name,
        onInput: setName,
      }),
      h(Select<Purpose>, {
        label: t('keys.purpose'),
        value: purpose,
        options: (['reading', 'readOnly', 'all'] as const).map(value => ({
          value,
          text: t(`keys.purpose.${value}`),
        })),
        onChange: setPurpose,
      }),
      h(Select<Lifetime>, {
        label: t('keys.lifetime'),
        value: lifetime,
        options: [
          { value: 'unlimited', text: t('keys.unlimited') },
          { value: '30', text: t('keys.days', { count: 30 }) },
          { value: '365', text: t('keys.days', { count: 365 }) },
        ],
        onChange: setLifetime,
      }),
      h(Button, { type: 'submit', variant: 'primary' }, t('keys.create')),
    ),
  )
}
