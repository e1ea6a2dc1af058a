// Editor of a list of records, such as authors with their roles: one row each, with buttons to add, move and remove.
import { useRef } from 'preact/hooks'
import { t } from '../../text/translate.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { BareSelect } from '../../ui/field.tsx'

export type Row = Readonly<Record<string, unknown>>

export type Column = {
  name: string
  label: string
  maxLength?: number
  type?: 'text' | 'url' | 'number' | 'flag'
  /** Makes it a select; unknown values remain selectable. */
  options?: readonly { value: string; text: string }[]
  /** Rows without it are not saved. */
  isRequired?: true
}

type RowListProps = {
  label: string
  rows: readonly Row[]
  columns: readonly Column[]
  empty: Row
  addText: string
  isOrdered?: boolean
  onChange: (rows: Row[]) => void
}

export function RowList(props: RowListProps) {
  const { label, rows, columns, empty, addText, isOrdered = false, onChange } = props
  const list = useRef<HTMLDivElement>(null)
  const replace = (index: number, row: Row) =>
    onChange(rows.map((old, i) => (i === index ? row : old)))
  const swap = (index: number, other: number) => {
    const next = [...rows]
    ;[next[index], next[other]] = [next[other]!, next[index]!]
    onChange(next)
  }
  const add = () => {
    onChange([...rows, empty])
    requestAnimationFrame(() =>
      list.current
        ?.querySelector<HTMLElement>('.row-list-row:last-of-type :is(input, select)')
        ?.focus(),
    )
  }
  return (
    <div class="row-list" ref={list} role="group" aria-label={label}>
      {rows.map((row, i) => (
        <div key={i} class="row-list-row">
          <div class={`row-list-cells cells-${columns.length}`}>
            {columns.map(column => (
              <Cell
                key={column.name}
                column={column}
                value={row[column.name]}
                onChange={value => replace(i, { ...row, [column.name]: value })}
              />
            ))}
          </div>
          <div class="row-list-actions">
            {isOrdered && (
              <IconButton
                icon="arrowUp"
                label={t('organize.moveUp')}
                disabled={i === 0}
                onClick={() => swap(i, i - 1)}
              />
            )}
            <IconButton
              icon="delete"
              label={t('organize.remove')}
              onClick={() => onChange(rows.filter((_, j) => j !== i))}
            />
          </div>
        </div>
      ))}
      <Button icon="add" variant="quiet" class="row-list-add" onClick={add}>
        {addText}
      </Button>
    </div>
  )
}

type CellProps = { column: Column; value: unknown; onChange: (value: unknown) => void }

function Cell({ column, value, onChange }: CellProps) {
  const { label, maxLength, type = 'text', options } = column
  if (options) {
    const text = String(value ?? '')
    const isKnown = options.some(option => option.value === text)
    const shown = isKnown ? options : [...options, { value: text, text }]
    return (
      <BareSelect<string>
        aria-label={label}
        value={text}
        options={shown}
        onChange={value => onChange(value || null)}
      />
    )
  }
  if (type === 'flag')
    return (
      <label class="row-list-flag">
        <input
          type="checkbox"
          checked={value === true}
          onChange={event => onChange(event.currentTarget.checked)}
        />
        {label}
      </label>
    )
  const parse = (text: string) => (type === 'number' ? (text === '' ? null : Number(text)) : text)
  return (
    <input
      type={type}
      aria-label={label}
      placeholder={label}
      value={String(value ?? '')}
      maxLength={maxLength}
      onInput={event => onChange(parse(event.currentTarget.value))}
    />
  )
}
