// Dialogs of sources: a new one from a preset or for a feed, and other credentials for one.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { languageName } from '../browse/filters/filter-texts.ts'
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { AddFeed } from './add-feed.tsx'
import { testSource } from './test-source.ts'

export type Preset = Schemas['SourcePreset']

type AddProps = {
  presets: readonly Preset[]
  /** Names of the sources that exist. */
  taken: readonly string[]
  onAdded: () => void
  onClose: () => void
}

export function AddSourceDialog({ presets, taken, onAdded, onClose }: AddProps) {
  const [preset, setPreset] = useState<Preset | null>(null)
  const [isFeed, setFeed] = useState(false)
  if (isFeed)
    return (
      <Dialog title={t('feed.add')} onClose={onClose}>
        <AddFeed taken={taken} onAdded={onAdded} onClose={onClose} />
      </Dialog>
    )
  if (preset) {
    const { name, displayName } = preset
    const add = async (credentials: Record<string, string>) => {
      const source = { name, displayName, config: { preset: name }, credentials, enabled: true }
      const request = { type: 'preset', ...source } as const
      const { id } = await body(api.POST('/api/v1/admin/sources', { body: request }))
      // Its failure is shown with the source.
      await testSource(id)
      onAdded()
      onClose()
    }
    return (
      <Dialog title={t('sources.addNamed', { name: displayName })} onClose={onClose}>
        <KeysForm preset={preset} submit={t('sources.add')} onSubmit={add} />
      </Dialog>
    )
  }
  return (
    <Dialog title={t('sources.add')} onClose={onClose}>
      <ul class="preset-list">
        {presets.map(option => (
          <li key={option.name}>
            <div>
              <strong>{option.displayName}</strong>
              <span class="secondary-text">
                {[kindOf(option), ...option.languages.map(nameOfLanguage)].join(' · ')}
              </span>
            </div>
            <IconButton
              icon="add"
              isFramed
              label={t('sources.addNamed', { name: option.displayName })}
              disabled={taken.includes(option.name)}
              onClick={() => setPreset(option)}
            />
          </li>
        ))}
        <li>
          <div>
            <strong>{t('feed.title')}</strong>
            <span class="secondary-text">{t('feed.kinds')}</span>
          </div>
          <IconButton icon="add" isFramed label={t('feed.add')} onClick={() => setFeed(true)} />
        </li>
      </ul>
    </Dialog>
  )
}

/** `mul`, any language (ISO 639-2), has no name in some browsers. */
const nameOfLanguage = (code: string) =>
  code === 'mul' ? t('sources.anyLanguage') : languageName(code)

function kindOf({ kind }: Preset): string {
  if (kind === 'comics') return t('sources.kind.comics')
  return kind === 'manga' ? t('metadata.bookType.manga') : t('label.books')
}

type KeysDialogProps = {
  sourceId: string
  preset: Preset
  onChanged: () => void
  onClose: () => void
}

export function SourceKeysDialog({ sourceId, preset, onChanged, onClose }: KeysDialogProps) {
  const change = async (credentials: Record<string, string>) => {
    const params = { path: { id: sourceId } }
    await api.PATCH('/api/v1/admin/sources/{id}', { params, body: { credentials } })
    onChanged()
    onClose()
  }
  return (
    <Dialog title={t('sources.changeKeys')} onClose={onClose}>
      <KeysForm preset={preset} submit={t('action.save')} onSubmit={change} />
    </Dialog>
  )
}

type KeysFormProps = {
  preset: Preset
  submit: string
  onSubmit: (credentials: Record<string, string>) => Promise<unknown>
}

function KeysForm({ preset, submit, onSubmit }: KeysFormProps) {
  const { credentials, attribution, homepage } = preset
  const [values, setValues] = useState<Record<string, string>>({})
  const entered = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  return (
    <Form onSubmit={() => onSubmit(entered)} submit={submit}>
      {credentials.map(({ name, label, isRequired }) => (
        <TextField
          key={name}
          label={label}
          type={name === 'username' ? 'text' : 'password'}
          // Browsers fill in the password for this server in spite of `off`.
          autocomplete={name === 'username' ? 'off' : 'new-password'}
          required={isRequired}
          value={values[name] ?? ''}
          onInput={value => setValues(values => ({ ...values, [name]: value }))}
        />
      ))}
      <p class="field-hint">
        {t('sources.attribution', { attribution, host: new URL(homepage).host })}
      </p>
      <a href={homepage} target="_blank" rel="noreferrer">
        {homepage}
      </a>
    </Form>
  )
}
