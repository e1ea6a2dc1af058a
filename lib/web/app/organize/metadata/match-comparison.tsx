// What a source states beside the current values, and which of it is applied.
import { t, textOr } from '../../text/translate.ts'
import { Table } from '../../ui/table.tsx'
import { fieldLabel } from './field-control.tsx'
import type { Comparison, FieldName } from './match-requests.ts'

type ComparisonTableProps = {
  comparison: Comparison
  chosen: ReadonlySet<FieldName>
  onChange: (chosen: ReadonlySet<FieldName>) => void
}

export function ComparisonTable({ comparison, chosen, onChange }: ComparisonTableProps) {
  const toggle = (field: FieldName) => {
    const next = new Set(chosen)
    if (!next.delete(field)) next.add(field)
    onChange(next)
  }
  const shown = comparison.fields.filter(({ action }) => action !== 'same')
  return (
    <div class="table-scroll">
      {shown.length === 0 && <p>{t('match.allSame')}</p>}
      <Table
        class="match-table"
        columns={[t('rule.field'), t('match.current'), t('match.proposed')]}
      >
        {shown.map(({ field, current, proposed, action }) => (
          <tr key={field}>
            <th scope="row">
              <label class="match-field">
                <input
                  type="checkbox"
                  checked={chosen.has(field)}
                  disabled={action !== 'change'}
                  onChange={() => toggle(field)}
                />
                {fieldLabel(field)}
              </label>
              {action !== 'change' && (
                <span class="badge">{textOr(`match.action.${action}`, action)}</span>
              )}
            </th>
            <td dir="auto">{valueText(current)}</td>
            <td dir="auto">{valueText(proposed)}</td>
          </tr>
        ))}
      </Table>
    </div>
  )
}

/** Lists and records as text. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(valueText).join(', ')
  if (typeof value !== 'object') return String(value)
  const { name, title, role, url, sourceName, externalId } = value as Record<string, unknown>
  return (
    [name ?? title ?? sourceName, role ?? url ?? externalId].filter(Boolean).join(' – ') ||
    JSON.stringify(value)
  )
}
