// How a source takes part in automatic matching: priority, libraries, search text, conditions, fields.
import { useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.ts'
import { useGet, useLibraries } from '../api/resource.ts'
import { fieldLabel } from '../organize/metadata/field-control.tsx'
import { t } from '../text/translate.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Switch, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorState, Loading } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { ConditionRows } from './condition-rows.tsx'
import { TemplateField } from './template-field.tsx'

type Settings = Schemas['MatchingSettings']
type FieldName = NonNullable<Settings['fields']>[number]

const fields: readonly FieldName[] = [
  ...(['title', 'titleSort', 'alternateTitles', 'summary', 'authors', 'publisher'] as const),
  ...(['imprint', 'year', 'status', 'language', 'ageRating', 'readingDirection'] as const),
  ...(['genres', 'tags', 'genre', 'subjects', 'isbns', 'cover', 'externalIds'] as const),
  ...(['externalLinks', 'externalRatings'] as const),
]

type SettingsProps = { sourceId: string; name: string; onClose: () => void }

export function MatchingDialog({ sourceId, name, onClose }: SettingsProps) {
  const stored = useGet('/api/v1/admin/sources/{id}/matching', { path: { id: sourceId } })
  const [changes, setChanges] = useState<Partial<Settings>>({})
  const settings = stored.data && { ...stored.data, ...changes }
  const change = (next: Partial<Settings>) => setChanges({ ...changes, ...next })
  const save = async () => {
    const params = { path: { id: sourceId } }
    await api.PUT('/api/v1/admin/sources/{id}/matching', { params, body: settings! })
    showNotice(t('action.saved'))
    onClose()
  }
  return (
    <Dialog
      title={t('matchingSettings.title', { name })}
      onClose={onClose}
      isUnsaved={Object.keys(changes).length > 0}
      width="wide"
    >
      {stored.error && !stored.data && <ErrorState error={stored.error} onRetry={stored.reload} />}
      {!settings && !stored.error && <Loading />}
      {settings && (
        <Form onSubmit={save} submit={t('action.save')}>
          <Fields settings={settings} onChange={change} />
        </Form>
      )}
    </Dialog>
  )
}

type FieldsProps = { settings: Settings; onChange: (changes: Partial<Settings>) => void }

function Fields({ settings, onChange }: FieldsProps) {
  const { enabled = true, usesExternalIds = true, priority = 50, conditions = null } = settings
  return (
    <>
      <Switch
        label={t('matchingSettings.enabled')}
        hint={t('matchingSettings.enabledHint')}
        checked={enabled}
        onChange={enabled => onChange({ enabled })}
      />
      <TextField
        label={t('matchingSettings.priority')}
        hint={t('matchingSettings.priorityHint')}
        type="number"
        min={0}
        max={100}
        required
        value={String(priority)}
        onInput={value => value !== '' && onChange({ priority: Number(value) })}
      />
      <Libraries settings={settings} onChange={onChange} />
      <TemplateField
        label={t('matchingSettings.template')}
        value={settings.searchTemplate ?? ''}
        onInput={value => onChange({ searchTemplate: value.trim() || null })}
      />
      <Switch
        label={t('matchingSettings.usesExternalIds')}
        checked={usesExternalIds}
        onChange={usesExternalIds => onChange({ usesExternalIds })}
      />
      <ConditionRows
        conditions={conditions ?? null}
        onChange={conditions => onChange({ conditions })}
      />
      <Checkboxes
        legend={t('metadata.bulk.fields')}
        allText={t('matchingSettings.allFields')}
        options={fields.map(value => ({ value, text: fieldLabel(value) }))}
        chosen={settings.fields ?? null}
        onChange={fields => onChange({ fields })}
      />
    </>
  )
}

function Libraries({ settings, onChange }: FieldsProps) {
  const libraries = useLibraries().data ?? []
  return (
    <Checkboxes
      legend={t('nav.libraries')}
      allText={t('account.allLibraries')}
      options={libraries.map(({ id, name }) => ({ value: id, text: name }))}
      chosen={settings.libraryIds ?? null}
      onChange={libraryIds => onChange({ libraryIds })}
    />
  )
}

type CheckboxesProps<V extends string> = {
  legend: string
  allText: string
  options: readonly { value: V; text: string }[]
  /** Null for all. */
  chosen: readonly V[] | null
  onChange: (chosen: V[] | null) => void
}

/** A choice of several values, or all of them, those of the future included. */
function Checkboxes<V extends string>(props: CheckboxesProps<V>) {
  const { legend, allText, options, chosen, onChange } = props
  const toggle = (value: V, isChosen: boolean) => {
    const others = (chosen ?? []).filter(other => other !== value)
    onChange(isChosen ? [...others, value] : others)
  }
  return (
    <fieldset class="checkboxes">
      <legend>{legend}</legend>
      <Switch
        label={allText}
        checked={chosen === null}
        onChange={isAll => onChange(isAll ? null : options.map(({ value }) => value))}
      />
      {chosen !== null && (
        <div class="checkboxes-options">
          {options.map(({ value, text }) => (
            <Switch
              key={value}
              label={text}
              checked={chosen.includes(value)}
              onChange={isChosen => toggle(value, isChosen)}
            />
          ))}
        </div>
      )}
    </fieldset>
  )
}
