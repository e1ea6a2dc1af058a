// How releases of a series are found: whether it is tracked, what the library has, languages, further titles.
import { useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.ts'
import { useGet } from '../api/resource.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Switch, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorState, Loading } from '../ui/state.tsx'

type Tracking = Schemas['SeriesTracking']
type TrackingProps = { seriesId: string; onChanged: () => void; onClose: () => void }

export function TrackingDialog({ seriesId, onChanged, onClose }: TrackingProps) {
  const path = { id: seriesId }
  const { data, error, reload } = useGet('/api/v1/series/{id}/tracking', { path })
  const [changes, setChanges] = useState<Partial<Tracking>>({})
  const save = async () => {
    const { tracked, trackVolumes, trackChapters, languages } = { ...data!, ...changes }
    const { latestKnownVolume, latestKnownChapter } = { ...data!, ...changes }
    const body = {
      ...{ tracked, trackVolumes, trackChapters, languages },
      ...{ latestKnownVolume, latestKnownChapter },
    }
    await api.PATCH('/api/v1/series/{id}/tracking', { params: { path }, body })
    onChanged()
    onClose()
  }
  return (
    <Dialog
      title={t('tracking.title')}
      onClose={onClose}
      isUnsaved={Object.keys(changes).length > 0}
    >
      {!data && !error && <Loading />}
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data && (
        <>
          <Form onSubmit={save} submit={t('action.save')}>
            <Fields
              tracking={{ ...data, ...changes }}
              onChange={next => setChanges({ ...changes, ...next })}
            />
          </Form>
          <Aliases seriesId={seriesId} />
        </>
      )}
    </Dialog>
  )
}

type FieldsProps = { tracking: Tracking; onChange: (changes: Partial<Tracking>) => void }

function Fields({ tracking, onChange }: FieldsProps) {
  const { tracked, trackVolumes, trackChapters, languages } = tracking
  const known = (name: 'latestKnownVolume' | 'latestKnownChapter') => (
    <TextField
      label={t(`tracking.${name}`)}
      type="number"
      min={0}
      step="any"
      value={tracking[name] === null ? '' : String(tracking[name])}
      onInput={value => onChange({ [name]: value === '' ? null : Number(value) })}
    />
  )
  return (
    <>
      <Switch
        label={t('tracking.tracked')}
        hint={t('tracking.trackedHint')}
        checked={tracked}
        onChange={tracked => onChange({ tracked })}
      />
      <Switch
        label={t('tracking.volumes')}
        checked={trackVolumes}
        onChange={trackVolumes => onChange({ trackVolumes })}
      />
      <Switch
        label={t('tracking.chapters')}
        checked={trackChapters}
        onChange={trackChapters => onChange({ trackChapters })}
      />
      <div class="form-row">
        {known('latestKnownVolume')}
        {known('latestKnownChapter')}
      </div>
      <TextField
        label={t('tracking.languages')}
        hint={t('tracking.languagesHint')}
        value={languages?.join(', ') ?? ''}
        onInput={value => onChange({ languages: listOf(value) })}
      />
    </>
  )
}

/** Null without entries. */
function listOf(text: string): string[] | null {
  const parts = text.split(/[\s,]+/).filter(part => part !== '')
  return parts.length > 0 ? parts : null
}

function Aliases({ seriesId }: { seriesId: string }) {
  const path = { id: seriesId }
  const { data, reload } = useGet('/api/v1/series/{id}/aliases', { path })
  const [alias, setAlias] = useState('')
  const add = async () => {
    await api.POST('/api/v1/series/{id}/aliases', { params: { path }, body: { alias } })
    setAlias('')
    reload()
  }
  const remove = async (aliasId: string) => {
    const params = { path: { ...path, alias_id: aliasId } }
    await api.DELETE('/api/v1/series/{id}/aliases/{alias_id}', { params })
    reload()
  }
  return (
    <section class="tracking-titles">
      <h3>{t('tracking.aliases')}</h3>
      <p class="field-hint">{t('tracking.aliasesHint')}</p>
      <ul>
        {data?.aliases.map(({ id, alias }) => (
          <li key={id} class="row">
            <span dir="auto">{alias}</span>
            <IconButton
              icon="delete"
              label={t('tracking.removeAlias', { alias })}
              onClick={() => remove(id)}
            />
          </li>
        ))}
      </ul>
      <Form onSubmit={add}>
        <div class="row">
          <TextField
            label={t('tracking.newAlias')}
            required
            maxLength={500}
            value={alias}
            onInput={setAlias}
          />
          <Button type="submit" icon="add" text={t('tracking.addAlias')} />
        </div>
      </Form>
    </section>
  )
}
