// A chart with its title and the same data as a table, which screen readers and everybody can switch to.
import { useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.ts'
import { type ComponentChildren, h } from '../ui/h.ts'

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
  return h(
    'section',
    { class: ['card statistics-card', rest.class].filter(Boolean).join(' '), 'aria-label': title },
    h(
      'header',
      { class: 'statistics-card-header' },
      h('h2', null, title),
      h(
        'div',
        { class: 'statistics-controls' },
        controls,
        h(IconButton, {
          icon: isTable ? 'chart' : 'table',
          variant: 'quiet',
          label: t(isTable ? 'statistics.asChart' : 'statistics.asTable'),
          'aria-pressed': isTable,
          onClick: () => setTable(!isTable),
        }),
      ),
    ),
    isTable ? h(DataTable, { ...table(), title }) : children,
  )
}

function DataTable({ columns, rows, title }: TableData & { title: string }) {
  return h(
    'div',
    { class: 'table-scroll statistics-table', tabIndex: 0, role: 'region', 'aria-label': title },
    h(
      'table',
      { class: 'table' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          columns.map(column => h('th', { scope: 'col', key: column }, column)),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map(([name, ...cells], i) =>
          h(
            'tr',
            { key: i },
            h('th', { scope: 'row', dir: 'auto' }, name),
            cells.map((cell, j) => h('td', { key: j }, cell)),
          ),
        ),
      ),
    ),
  )
}
