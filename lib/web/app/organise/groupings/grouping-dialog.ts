// Form of a collection or read list: name, description, order, and the rule of a collection.
import { useState } from 'preact/hooks'
import { useEdited } from '../../routing/unsaved.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.ts'
import { Dialog } from '../../ui/dialog.ts'
import { Switch, TextArea, TextField } from '../../ui/field.ts'
import { Form } from '../../ui/form.ts'
import { h } from '../../ui/h.ts'
import { showNotice } from '../../ui/toast.ts'
import { changeGrouping, createGrouping, type Grouping, isAutomatic, type Kind } from './kind.ts'
import { RuleEditor } from './rule-editor.ts'

type GroupingDialogProps = {
  kind: Kind
  /** Absent for a new one. */
  grouping?: Grouping
  /** Members of a new one. */
  memberIds?: readonly string[]
  onSaved?: (saved: Grouping) => void
  onClose: () => void
}

export function GroupingDialog({
  kind,
  grouping,
  memberIds = [],
  onSaved,
  onClose,
}: GroupingDialogProps) {
  const [name, setName] = useState(grouping?.name ?? '')
  const [summary, setSummary] = useState(grouping?.summary ?? '')
  const [ordered, setOrdered] = useState(grouping?.ordered ?? kind === 'readlists')
  const [condition, setCondition] = useState(grouping?.condition ?? null)
  const [isByRule, setByRule] = useState(grouping ? isAutomatic(grouping) : false)
  // Whether members are chosen by hand is decided once: the members would be lost.
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
  return h(
    Dialog,
    {
      title: t(`groupings.${grouping ? 'edit' : 'create'}.${kind}`),
      onClose,
      isUnsaved: isEdited,
      canCancel: true,
      ...(isByRule && { width: 'wide' as const }),
      actions: h(
        Button,
        { ...save, disabled: !isComplete },
        t(grouping ? 'action.save' : 'groupings.createAction'),
      ),
    },
    h(
      Form,
      { onSubmit: submit, id: 'grouping-form' },
      h(TextField, {
        label: t('groupings.name'),
        value: name,
        maxLength: 200,
        required: true,
        autofocus: true,
        onInput: setName,
      }),
      h(TextArea, {
        label: t('groupings.summary'),
        value: summary,
        maxLength: 5000,
        rows: 3,
        onInput: setSummary,
      }),
      canHaveRule &&
        !grouping &&
        h(Switch, {
          label: t('groupings.byRule'),
          hint: t('groupings.byRuleHint'),
          checked: isByRule,
          onChange: setByRule,
        }),
      isByRule
        ? h(RuleEditor, { rule: condition, onChange: setCondition })
        : h(Switch, {
            label: t('groupings.ordered'),
            hint: t(`groupings.orderedHint.${kind}`),
            checked: ordered,
            onChange: setOrdered,
          }),
    ),
  )
}
