// Metadata editor of a series or book: fields in tabs, each with its lock; only changes are saved.
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../api/errors.ts'
import { useResource } from '../../api/resource.ts'
import { can } from '../../api/session.ts'
import { t } from '../../text/translate.ts'
import { FormError } from '../../ui/form.tsx'
import { ErrorState } from '../../ui/state.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import {
  type Draft,
  type Errors,
  emptyDraft,
  errorsOf,
  isChanged,
  isLocked,
  validate,
  withLock,
  withoutEmptyRows,
  withValue,
} from './draft.ts'
import { EditorDialog } from './editor-dialog.tsx'
import { FieldControl, fieldLabel, LockButton } from './field-control.tsx'
import { allFields, type Field, fieldsOf, type Owner, type TabName, tabs } from './fields.ts'
import { loadRecord, type MetadataRecord, resetRecord, saveRecord } from './record.ts'

type MetadataDialogProps = { owner: Owner; id: string; onSaved?: () => void; onClose: () => void }

export function MetadataDialog({ owner, id, onSaved, onClose }: MetadataDialogProps) {
  const record = useResource(`/${owner}/${id}/metadata?edit`, signal =>
    loadRecord({ owner, id }, signal),
  )
  const { data, error, reload } = record
  const editor = useEditor({ owner, id, record: data, reload })
  return (
    <EditorDialog
      owner={owner}
      title={t(`metadata.title.${owner}`)}
      isChanged={isChanged(editor.draft)}
      isLoaded={data !== undefined}
      onSave={editor.save}
      onReset={() => resetRecord({ owner, id })}
      onSaved={onSaved}
      onClose={onClose}
    >
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {!data && !error && <div aria-busy />}
      {data && <Editor owner={owner} record={data} editor={editor} />}
    </EditorDialog>
  )
}

type Editor = ReturnType<typeof useEditor>

function useEditor(props: {
  owner: Owner
  id: string
  record: MetadataRecord | undefined
  reload: () => void
}) {
  const { owner, id, record, reload } = props
  const [draft, setDraft] = useState<Draft>(emptyDraft)
  const [errors, setErrors] = useState<Errors>({})
  const fields = allFields(owner)
  return {
    draft,
    errors,
    setValue(name: string, value: unknown) {
      setDraft(draft => withValue(draft, record!, { name, value }))
      setErrors(({ [name]: _, form: __, ...errors }) => errors)
    },
    toggleLock: (field: Field) => setDraft(draft => withLock(draft, record!, field)),
    /** Returns whether it was saved. */
    async save(): Promise<boolean> {
      const values = withoutEmptyRows(draft.values)
      const found = validate(fields, values)
      setErrors(found)
      if (Object.keys(found).length > 0) return false
      try {
        await saveRecord({ owner, id }, record!, { values, locks: draft.locks })
        return true
      } catch (error) {
        const isOutdated = error instanceof ApiError && error.status === 412
        setErrors(isOutdated ? { form: t('metadata.error.outdated') } : errorsOf(error, fields))
        if (isOutdated) reload()
        return false
      }
    },
  }
}

type EditorProps = { owner: Owner; record: MetadataRecord; editor: Editor }

function Editor({ owner, record, editor }: EditorProps) {
  const groups = fieldsOf(owner)
  const shown = tabs.filter(name => groups[name] && (name !== 'sharing' || can('SystemAdmin')))
  const [selected, setSelected] = useState<TabName>('general')
  const hasError = (tab: TabName) => groups[tab]!.some(({ name }) => editor.errors[name])
  useEffect(() => {
    const first = shown.find(hasError)
    if (first && !hasError(selected)) setSelected(first)
  }, [editor.errors])
  const marked = shown.map(name => ({
    name,
    text: t(name === 'people' ? 'field.authors' : `metadata.tab.${name}`),
    mark: hasError(name) && <span class="badge danger">!</span>,
  }))
  return (
    <Tabs<TabName>
      label={t(`metadata.title.${owner}`)}
      tabs={marked}
      selected={selected}
      onSelect={setSelected}
    >
      <FormError text={editor.errors.form} />
      <div class="metadata-fields">
        {groups[selected]!.map(field => (
          <EditorField key={field.name} field={field} record={record} editor={editor} />
        ))}
      </div>
    </Tabs>
  )
}

type EditorFieldProps = { field: Field; record: MetadataRecord; editor: Editor }

function EditorField({ field, record, editor }: EditorFieldProps) {
  const { draft, errors } = editor
  const { name, lock } = field
  const isEdited = name in draft.values
  const classes = ['metadata-field', field.isWide && 'wide', isEdited && 'edited']
    .filter(Boolean)
    .join(' ')
  return (
    <div class={classes}>
      <FieldControl
        field={field}
        value={isEdited ? draft.values[name] : record.values[name]}
        error={errors[name]}
        onChange={value => editor.setValue(name, value)}
        extra={
          lock !== null && (
            <LockButton
              name={fieldLabel(name)}
              isLocked={isLocked(draft, record, field)}
              onToggle={() => editor.toggleLock(field)}
            />
          )
        }
      />
    </div>
  )
}
