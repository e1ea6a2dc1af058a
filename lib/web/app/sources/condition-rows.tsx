// Conditions on series for automatic matching, one row each.
import type { Schemas } from '../api/client.ts'
import { fieldLabel } from '../organize/metadata/field-control.tsx'
import { type Column, type Row, RowList } from '../organize/metadata/row-list.tsx'
import { t, textOr } from '../text/translate.ts'
import { Select } from '../ui/field.tsx'

export type Conditions = Schemas['AutoMatchConditions']
type Rule = Conditions['rules'][number]

const fields = [
  ...['metadata.title', 'metadata.publisher', 'metadata.language', 'metadata.year'],
  ...['metadata.status', 'metadata.genres', 'metadata.tags', 'metadata.summary', 'bookCount'],
  'externalIds.count',
]
const operators: readonly Rule['operator'][] = [
  ...(['is_null', 'is_not_null', 'equals', 'not_equals', 'contains', 'not_contains'] as const),
  ...(['starts_with', 'ends_with', 'matches', 'in', 'not_in', 'gt', 'gte', 'lt', 'lte'] as const),
]

type ConditionRowsProps = {
  conditions: Conditions | null
  onChange: (conditions: Conditions | null) => void
}

export function ConditionRows({ conditions, onChange }: ConditionRowsProps) {
  const { rules = [] } = conditions ?? {}
  const mode = conditions?.mode ?? 'all'
  const columns: Column[] = [
    {
      name: 'field',
      label: t('rule.field'),
      options: fields.map(value => ({ value, text: nameOf(value) })),
    },
    {
      name: 'operator',
      label: t('rule.operator'),
      options: operators.map(value => ({ value, text: t(`condition.${value}`) })),
    },
    { name: 'value', label: t('rule.value') },
  ]
  const change = (rows: Row[]) =>
    onChange(rows.length === 0 ? null : { mode, rules: rows.map(ruleOf) })
  return (
    <>
      {rules.length > 1 && (
        <Select<'all' | 'any'>
          label={t('condition.mode')}
          value={mode}
          options={[
            { value: 'all', text: t('condition.all') },
            { value: 'any', text: t('condition.any') },
          ]}
          onChange={next => onChange({ mode: next, rules })}
        />
      )}
      <RowList
        label={t('condition.title')}
        rows={rules.map(rowOf)}
        columns={columns}
        empty={{ field: 'metadata.title', operator: 'contains', value: '' }}
        addText={t('rule.add')}
        onChange={change}
      />
    </>
  )
}

const takesList = (operator: unknown) => operator === 'in' || operator === 'not_in'

const rowOf = ({ field, operator, value }: Rule): Row => ({
  ...{ field, operator },
  value: Array.isArray(value) ? value.join(', ') : String(value ?? ''),
})

function ruleOf({ field, operator, value }: Row): Rule {
  const text = String(value ?? '')
  const given = takesList(operator) ? text.split(',').map(part => part.trim()) : text
  return { field: String(field), operator: operator as Rule['operator'], value: given }
}

const nameOf = (field: string): string =>
  textOr(`condition.field.${field}`, fieldLabel(field.replace('metadata.', '')))
