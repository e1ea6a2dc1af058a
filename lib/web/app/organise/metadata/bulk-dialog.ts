// Metadata of several series or books at once: labels added and removed, fields set, locks, reset.
import { useState } from 'preact/hooks'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.ts'
import { h } from '../../ui/h.ts'
import { Tabs } from '../../ui/tabs.ts'
import { type BulkChange, changeMany, resetMany } from './bulk.ts'
import { type Errors, errorsOf, validate, withoutEmptyRows } from './draft.ts'
import { EditorDialog } from './editor-dialog.ts'
import { FieldControl, fieldLabel } from './field-control.ts'
import { allFields, type Field, type Owner } from './fields.ts'
import { LabelInput } from './label-input.ts'
import { useLabelNames } from './label-names.ts'

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
  return h(
    EditorDialog,
    {
      owner,
      title,
      isChanged: Object.values(change).some(part => Object.keys(part).length > 0),
      onSave: save,
      onReset: () => resetMany({ owner, ids }),
      onSaved,
      onClose,
    },
    h(
      Tabs<BulkTab>,
      {
        label: title,
        tabs: (['labels', 'fields', 'locks'] as const).map(name => ({
          name,
          text: t(`metadata.bulk.${name}`),
        })),
        selected: tab,
        onSelect: setTab,
      },
      errors.form && h('p', { class: 'form-error', role: 'alert' }, errors.form),
      tab === 'labels' && h(LabelChanges, { change, update }),
      tab === 'fields' && h(FieldChanges, { owner, change, update, errors }),
      tab === 'locks' && h(LockChanges, { owner, change, update }),
    ),
  )
}

type PartProps = { change: BulkChange; update: (part: Partial<BulkChange>) => void }

const labelChanges = ['genres.add', 'genres.remove', 'tags.add', 'tags.remove'] as const

function LabelChanges({ change, update }: PartProps) {
  const known = { genres: useLabelNames('genres'), tags: useLabelNames('tags') }
  return h(
    'div',
    { class: 'metadata-fields' },
    labelChanges.map(name =>
      h(
        'div',
        { class: 'field metadata-field wide', key: name },
        h('div', { class: 'field-label' }, t(`metadata.bulk.${name}`)),
        h(LabelInput, {
          label: t(`metadata.bulk.${name}`),
          names: change.labels[name] ?? [],
          suggestions: known[name.startsWith('genres') ? 'genres' : 'tags'],
          onChange: names => {
            const { [name]: _, ...rest } = change.labels
            update({ labels: names.length > 0 ? { ...rest, [name]: names } : rest })
          },
        }),
      ),
    ),
  )
}

/** A check mark in front of each field shows whether it is set. */
function FieldChanges({
  owner,
  change,
  update,
  errors,
}: PartProps & { owner: Owner; errors: Errors }) {
  const shared = allFields(owner).filter(({ isShared, isPlain }) => isShared && isPlain)
  const toggle = ({ name, kind }: Field) => {
    const { [name]: _, ...rest } = change.values
    const empty = kind === 'authors' ? [] : name === 'status' ? 'ongoing' : null
    update({ values: name in change.values ? rest : { ...rest, [name]: empty } })
  }
  return h(
    'div',
    { class: 'metadata-fields' },
    h('p', { class: 'secondary-text metadata-field wide' }, t('metadata.bulk.fieldsHint')),
    shared.map(field => {
      const { name } = field
      const isSet = name in change.values
      return h(
        'div',
        { class: `metadata-field ${field.isWide ? 'wide' : ''}`, key: name },
        h(
          'label',
          { class: 'metadata-set' },
          h('input', { type: 'checkbox', checked: isSet, onChange: () => toggle(field) }),
          fieldLabel(name),
        ),
        isSet &&
          h(FieldControl, {
            field,
            value: change.values[name],
            error: errors[name],
            onChange: value => update({ values: { ...change.values, [name]: value } }),
          }),
      )
    }),
  )
}

function LockChanges({ owner, change, update }: PartProps & { owner: Owner }) {
  const fields = allFields(owner).filter(({ lock }) => lock !== null)
  const set = (locks: BulkChange['locks']) => update({ locks })
  const all = (value: boolean) => set(Object.fromEntries(fields.map(({ lock }) => [lock!, value])))
  return h(
    'div',
    { class: 'form' },
    h(
      'div',
      { class: 'page-actions' },
      h(Button, { icon: 'lock', onClick: () => all(true) }, t('metadata.bulk.lockAll')),
      h(Button, { icon: 'unlock', onClick: () => all(false) }, t('metadata.bulk.unlockAll')),
      h(Button, { variant: 'quiet', onClick: () => set({}) }, t('metadata.bulk.keepAll')),
    ),
    h(
      'div',
      { class: 'metadata-fields' },
      fields.map(({ name, lock }) =>
        h(
          'label',
          { class: 'metadata-lock-choice', key: name },
          h('span', null, fieldLabel(name)),
          h(
            'select',
            {
              value: lock! in change.locks ? String(change.locks[lock!]) : '',
              onChange: event => {
                const { value } = event.currentTarget
                const { [lock!]: _, ...rest } = change.locks
                set(value === '' ? rest : { ...rest, [lock!]: value === 'true' })
              },
            },
            h('option', { value: '' }, t('metadata.bulk.keep')),
            h('option', { value: 'true' }, t('metadata.bulk.lock')),
            h('option', { value: 'false' }, t('metadata.bulk.unlock')),
          ),
        ),
      ),
    ),
  )
}
