// Names with bars of their amounts: series, formats, devices.
import type { ComponentChildren } from 'preact'
import { h } from '../ui/h.ts'

export type RankingRow = {
  key: string
  name: ComponentChildren
  /** Below the name. */
  detail?: string
  amount: number
  text: string
}

export function Ranking({ rows }: { rows: readonly RankingRow[] }) {
  const largest = Math.max(1, ...rows.map(({ amount }) => amount))
  return h(
    'ol',
    { class: 'ranking' },
    rows.map(({ key, name, detail, amount, text }) =>
      h(
        'li',
        { key },
        h(
          'div',
          { class: 'ranking-line' },
          h('span', { class: 'ranking-name', dir: 'auto' }, name),
          h('span', { class: 'ranking-amount' }, text),
        ),
        h(
          'span',
          { class: 'progress-bar', 'aria-hidden': true },
          h('span', { style: { width: `${(amount / largest) * 100}%` } }),
        ),
        detail && h('span', { class: 'secondary-text ranking-detail' }, detail),
      ),
    ),
  )
}
