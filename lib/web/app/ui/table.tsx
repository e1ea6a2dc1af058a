// Table with a row of column names; its rows are the children.
import type { ComponentChildren } from 'preact'

type TableProps = { columns: readonly string[]; class?: string; children: ComponentChildren }

export function Table({ columns, class: extra, children }: TableProps) {
  return (
    <table class={['table', extra].filter(Boolean).join(' ')}>
      <thead>
        <tr>
          {columns.map(name => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
