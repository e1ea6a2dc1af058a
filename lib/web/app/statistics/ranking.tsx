// Ranking with bars: series, formats, devices.
import type { ComponentChildren } from 'preact'

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
  return (
    <ol class="ranking">
      {rows.map(({ key, name, detail, amount, text }) => (
        <li key={key}>
          <div class="ranking-line">
            <span class="ranking-name" dir="auto">
              {name}
            </span>
            <span class="ranking-amount">{text}</span>
          </div>
          <span class="progress-bar" aria-hidden>
            <span style={{ width: `${(amount / largest) * 100}%` }} />
          </span>
          {detail && <span class="secondary-text ranking-detail">{detail}</span>}
        </li>
      ))}
    </ol>
  )
}
