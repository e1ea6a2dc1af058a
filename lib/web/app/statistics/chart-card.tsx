// Chart card with a title and the same data as a table, for screen readers and anyone who prefers it; choices in a row.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { Table } from '../ui/table.tsx'

export type TableData = { columns: readonly string[]; rows: readonly (readonly string[])[] }

type ChartCardProps = {
  title: string
  /** Controls of the chart. */
  controls?: ComponentChildren
  table: () => TableData
  children: ComponentChildren
  class?: string
}

export function ChartCard({ title, controls, table, children, ...rest }: ChartCardProps) {
  const [isTable, setTable] = useState(false)
  return (
    <section
      class={['card statistics-card', rest.class].filter(Boolean).join(' ')}
      aria-label={title}
    >
      <header class="row statistics-card-header">
        <h2>{title}</h2>
        <div class="row">
          {controls}
          <IconButton
            icon={isTable ? 'chart' : 'table'}
            label={t(isTable ? 'statistics.asChart' : 'statistics.asTable')}
            aria-pressed={isTable}
            onClick={() => setTable(!isTable)}
          />
        </div>
      </header>
      {isTable ? <DataTable {...table()} title={title} /> : children}
    </section>
  )
}

function DataTable({ columns, rows, title }: TableData & { title: string }) {
  return (
    <div class="table-scroll statistics-table" tabIndex={0} role="region" aria-label={title}>
      <Table columns={columns}>
        {rows.map(([name, ...cells], i) => (
          <tr key={i}>
            <th scope="row" dir="auto">
              {name}
            </th>
            {cells.map((cell, j) => (
              <td key={j}>{cell}</td>
            ))}
          </tr>
        ))}
      </Table>
    </div>
  )
}

type SegmentsProps<V extends string> = {
  label: string
  values: readonly V[]
  value: string
  textOf: (value: V) => string
  onChange: (value: V) => void
}

export const Segments = <V extends string>(props: SegmentsProps<V>) => (
  <div class="segments" role="group" aria-label={props.label}>
    {props.values.map(value => (
      <button
        key={value}
        type="button"
        aria-pressed={value === props.value}
        onClick={() => props.onChange(value)}
      >
        {props.textOf(value)}
      </button>
    ))}
  </div>
)
