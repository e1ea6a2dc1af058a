// Form of a collection or read list: name, description, order, and the rule of a collection.
import { useState } from 'preact/hooks'
import { useEdited } from '../../routing/unsaved.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Switch, TextArea, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { showNotice } from '../../ui/toast.tsx'
import { changeGrouping, createGrouping, type Grouping, isAutomatic, type Kind } from './kind.ts'
import { RuleEditor } from './rule-editor.tsx'

type GroupingDialogProps = {
  kind: Kind
  /** Absent when creating. */
  grouping?: Grouping
  /** Initial members when creating. */
  memberIds?: readonly string[]
  onSaved?: (saved: Grouping) => void
  onClose: () => void
}

export function GroupingDialog(props: GroupingDialogProps) {
  const { kind, grouping, memberIds = [], onSaved, onClose } = props
  const [name, setName] = useState(grouping?.name ?? '')
  const [summary, setSummary] = useState(grouping?.summary ?? '')
  const [ordered, setOrdered] = useState(grouping?.ordered ?? kind === 'readlists')
  const [condition, setCondition] = useState(grouping?.condition ?? null)
  const [isByRule, setByRule] = useState(grouping ? isAutomatic(grouping) : false)
  // The choice between rule and members is final: switching would lose the members.
  const canHaveRule = kind === 'collections' && memberIds.length === 0 && (!grouping || isByRule)
  const submit = async () => {
    const fields = {
      name: name.trim(),
      summary: summary.trim() || null,
      ordered: isByRule ? false : ordered,
      ...(isByRule && { condition }),
    }
    const saved = grouping
      ? await changeGrouping({ kind, id: grouping.id }, fields)
      : await createGrouping(kind, fields, memberIds)
    showNotice(t(grouping ? 'metadata.saved' : 'groupings.created', { name: saved.name }))
    onClose()
    onSaved?.(saved)
  }
  const isComplete = name.trim() !== '' && (!isByRule || condition !== null)
  const { isEdited } = useEdited([name, summary, ordered, condition, isByRule])
  const save = { variant: 'primary', type: 'submit', form: 'grouping-form' } as const
  return (
    <Dialog
      title={t(`groupings.${grouping ? 'edit' : 'create'}.${kind}`)}
      onClose={onClose}
      isUnsaved={isEdited}
      canCancel
      {...(isByRule && { width: 'wide' as const })}
      actions={
        <Button {...save} disabled={!isComplete}>
          {t(grouping ? 'action.save' : 'groupings.createAction')}
        </Button>
      }
    >
      <Form onSubmit={submit} id="grouping-form">
        <TextField
          label={t('field.name')}
          value={name}
          maxLength={200}
          required
          autofocus
          onInput={setName}
        />
        <TextArea
          label={t('field.description')}
          value={summary}
          maxLength={5000}
          rows={3}
          onInput={setSummary}
        />
        {canHaveRule && !grouping && (
          <Switch
            label={t('groupings.byRule')}
            hint={t('groupings.byRuleHint')}
            checked={isByRule}
            onChange={setByRule}
          />
        )}
        {isByRule ? (
          <RuleEditor rule={condition} onChange={setCondition} />
        ) : (
          <Switch
            label={t('groupings.ordered')}
            hint={t(`groupings.orderedHint.${kind}`)}
            checked={ordered}
            onChange={setOrdered}
          />
        )}
      </Form>
    </Dialog>
  )
}
