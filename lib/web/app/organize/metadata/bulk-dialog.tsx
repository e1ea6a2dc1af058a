// Bulk metadata editor for series or books: add and remove labels, set fields, lock, reset.
import { useState } from 'preact/hooks'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/form.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { type BulkChange, changeMany, resetMany } from './bulk.ts'
import { type Errors, errorsOf, validate, withoutEmptyRows } from './draft.ts'
import { EditorDialog } from './editor-dialog.tsx'
import { FieldControl, fieldLabel } from './field-control.tsx'
import { allFields, type Field, type Owner } from './fields.ts'
import { LabelInput, useLabelNames } from './label-input.tsx'

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
