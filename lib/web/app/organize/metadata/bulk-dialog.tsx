// Bulk metadata editor for series or books: add and remove labels, set fields, lock, reset.
import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/form.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { type Errors, errorsOf, validate, withoutEmptyRows } from './draft.ts'
import { EditorDialog } from './editor-dialog.tsx'
import { FieldControl, fieldLabel } from './field-control.tsx'
import { allFields, type Field, type Owner } from './fields.ts'
import { LabelInput, useLabelNames } from './label-input.tsx'
import type { Locks, Values } from './record.ts'

type BulkDialogProps = {
  owner: Owner
  ids: readonly string[]
  onSaved?: () => void
  onClose: () => void
}
type BulkTab = 'labels' | 'fields' | 'locks'

const nothing: BulkChange = { labels: {}, values: {}, locks: {} }

export function BulkDialog({ owner, ids, onSaved, onClose }: BulkDialogProps) {
  const [tab, setTab] = useState<BulkTab>('labels')
  const [change, setChange] = useState(nothing)
  const [errors, setErrors] = useState<Errors>({})
  const title = t(`metadata.bulkTitle.${owner}`, { count: ids.length })
  const save = async () => {
    const fields = allFields(owner)
    const values = withoutEmptyRows(change.values)
    const found = validate(fields, values)
    setErrors(found)
    if (Object.keys(found).length > 0) {
      setTab('fields')
      return false
    }
    try {
      await changeMany({ owner, ids }, { ...change, values })
      return true
    } catch (error) {
      setErrors(errorsOf(error, fields))
      return false
    }
  }
  const update = (part: Partial<BulkChange>) => {
    setErrors({})
    setChange(change => ({ ...change, ...part }))
  }
  return (
    <EditorDialog
      owner={owner}
      title={title}
      isChanged={Object.values(change).some(part => Object.keys(part).length > 0)}
      onSave={save}
      onReset={() => resetMany({ owner, ids })}
      onSaved={onSaved}
      onClose={onClose}
    >
      <Tabs<BulkTab>
        label={title}
        tabs={(['labels', 'fields', 'locks'] as const).map(name => ({
          name,
          text: t(name === 'labels' ? 'metadata.tab.labels' : `metadata.bulk.${name}`),
        }))}
        selected={tab}
        onSelect={setTab}
      >
        <FormError text={errors.form} />
        {tab === 'labels' && <LabelChanges change={change} update={update} />}
        {tab === 'fields' && (
          <FieldChanges owner={owner} change={change} update={update} errors={errors} />
        )}
        {tab === 'locks' && <LockChanges owner={owner} change={change} update={update} />}
      </Tabs>
    </EditorDialog>
  )
}

type PartProps = { change: BulkChange; update: (part: Partial<BulkChange>) => void }

const labelChanges = ['genres.add', 'genres.remove', 'tags.add', 'tags.remove'] as const

function LabelChanges({ change, update }: PartProps) {
  const known = { genres: useLabelNames('genres'), tags: useLabelNames('tags') }
  return (
    <div class="metadata-fields">
      {labelChanges.map(name => (
        <div key={name} class="field metadata-field wide">
          <div class="field-label">{t(`metadata.bulk.${name}`)}</div>
          <LabelInput
            label={t(`metadata.bulk.${name}`)}
            names={change.labels[name] ?? []}
            suggestions={known[name.startsWith('genres') ? 'genres' : 'tags']}
            onChange={names => {
              const { [name]: _, ...rest } = change.labels
              update({ labels: names.length > 0 ? { ...rest, [name]: names } : rest })
            }}
          />
        </div>
      ))}
    </div>
  )
}

/** A checkbox before each field shows whether it is set. */
function FieldChanges(props: PartProps & { owner: Owner; errors: Errors }) {
  const { owner, change, update, errors } = props
  const shared = allFields(owner).filter(({ isShared, isPlain }) => isShared && isPlain)
  const toggle = ({ name, kind }: Field) => {
    const { [name]: _, ...rest } = change.values
    const empty = kind === 'authors' ? [] : name === 'status' ? 'ongoing' : null
    update({ values: name in change.values ? rest : { ...rest, [name]: empty } })
  }
  return (
    <div class="metadata-fields">
      <p class="secondary-text metadata-field wide">{t('metadata.bulk.fieldsHint')}</p>
      {shared.map(field => {
        const { name } = field
        const isSet = name in change.values
        return (
          <div key={name} class={`metadata-field ${field.isWide ? 'wide' : ''}`}>
            <label class="metadata-set">
              <input type="checkbox" checked={isSet} onChange={() => toggle(field)} />
              {fieldLabel(name)}
            </label>
            {isSet && (
              <FieldControl
                field={field}
                value={change.values[name]}
                error={errors[name]}
                onChange={value => update({ values: { ...change.values, [name]: value } })}
              />
            )}
          </div>
        )
      })}
    </div>
  )
}

function LockChanges({ owner, change, update }: PartProps & { owner: Owner }) {
  const fields = allFields(owner).filter(({ lock }) => lock !== null)
  const set = (locks: BulkChange['locks']) => update({ locks })
  const all = (value: boolean) => set(Object.fromEntries(fields.map(({ lock }) => [lock!, value])))
  return (
    <div class="form">
      <div class="row">
        <Button icon="lock" text={t('metadata.bulk.lockAll')} onClick={() => all(true)} />
        <Button icon="unlock" text={t('metadata.bulk.unlockAll')} onClick={() => all(false)} />
        <Button variant="quiet" text={t('metadata.bulk.keepAll')} onClick={() => set({})} />
      </div>
      <div class="metadata-fields">
        {fields.map(({ name, lock }) => (
          <label key={name} class="metadata-lock-choice">
            <span>{fieldLabel(name)}</span>
            <select
              class="control"
              value={lock! in change.locks ? String(change.locks[lock!]) : ''}
              onChange={event => {
                const { value } = event.currentTarget
                const { [lock!]: _, ...rest } = change.locks
                set(value === '' ? rest : { ...rest, [lock!]: value === 'true' })
              }}
            >
              <option value="">{t('metadata.bulk.keep')}</option>
              <option value="true">{t('metadata.bulk.lock')}</option>
              <option value="false">{t('metadata.bulk.unlock')}</option>
            </select>
          </label>
        ))}
      </div>
    </div>
  )
}

type LabelChange = 'genres.add' | 'genres.remove' | 'tags.add' | 'tags.remove'
type BulkChange = {
  labels: Partial<Record<LabelChange, string[]>>
  values: Values
  locks: Locks
}
type Subjects = { owner: Owner; ids: readonly string[] }

/** Per request. */
const maxIds = 100

async function inChunks(ids: readonly string[], run: (ids: string[]) => Promise<unknown>) {
  for (let i = 0; i < ids.length; i += maxIds) await run(ids.slice(i, i + maxIds))
}

const idsOf = (owner: Owner, ids: string[]) =>
  owner === 'series' ? { seriesIds: ids } : { bookIds: ids }

/** Throws ApiError. Earlier changes remain; repeating all of them is safe. */
async function changeMany({ owner, ids }: Subjects, change: BulkChange): Promise<void> {
  const { labels, values, locks } = change
  const path = `/api/v1/${owner}/bulk` as const
  await inChunks(ids, async chunk => {
    const subjects = idsOf(owner, chunk)
    if (Object.keys(values).length > 0)
      await api.PATCH(`${path}/metadata`, { body: { ...values, ...subjects } })
    for (const kind of ['genres', 'tags'] as const) {
      const names = { add: labels[`${kind}.add`] ?? [], remove: labels[`${kind}.remove`] ?? [] }
      if (names.add.length + names.remove.length > 0)
        await api.POST(`${path}/${kind}`, { body: { ...names, ...subjects } })
    }
    if (Object.keys(locks).length > 0)
      await api.PUT(`${path}/metadata/locks`, { body: { ...locks, ...subjects } })
  })
}

/** Removes values and locks set by users. Throws ApiError. */
async function resetMany({ owner, ids }: Subjects): Promise<void> {
  const path = `/api/v1/${owner}/bulk/metadata/reset` as const
  await inChunks(ids, chunk => api.POST(path, { body: idsOf(owner, chunk) }))
}
