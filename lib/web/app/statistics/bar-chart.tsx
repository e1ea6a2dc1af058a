// Bar chart by day, week or month as SVG, at the available width.
import { useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { isRightToLeft, useWidth } from '../ui/layout.ts'
import { amountText, type Measure, ticksOf, tickText } from './measure.ts'

export type Bar = { key: string; label: string; shortLabel: string; amount: number }

type BarChartProps = { bars: readonly Bar[]; measure: Measure; label: string }

const height = 240
const axisWidth = 58
const bottom = 26
const top = 12
const labelWidth = 64

export function BarChart({ bars, measure, label }: BarChartProps) {
  const { ref, width } = useWidth()
  const [active, setActive] = useState<number | null>(null)
  const largest = Math.max(1, ...bars.map(({ amount }) => amount))
  const ticks = ticksOf(largest, measure)
  const topTick = ticks.at(-1)!
  const plot = { width: Math.max(0, width - axisWidth), height: height - top - bottom }
  const step = plot.width / Math.max(1, bars.length)
  const barWidth = Math.max(1, Math.min(36, step * 0.78))
  const reversed = isRightToLeft()
  /** The center of a bar. */
  const center = (i: number) => {
    const offset = step * (i + 0.5)
    return reversed ? plot.width - offset : axisWidth + offset
  }
  const y = (amount: number) => top + plot.height * (1 - amount / topTick)
  const every = Math.max(1, Math.ceil(labelWidth / Math.max(1, step)))
  const indexAt = (event: PointerEvent) => {
    const x = event.clientX - ref.current!.getBoundingClientRect().left
    const offset = reversed ? plot.width - x : x - axisWidth
    const index = Math.floor(offset / step)
    return index >= 0 && index < bars.length ? index : null
  }
  const shown = active === null ? null : bars[active]
  return (
    <div
      class="bar-chart"
      ref={ref}
      onPointerMove={event => setActive(indexAt(event))}
      onPointerLeave={() => setActive(null)}
    >
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={`${label}. ${t('statistics.asTable')}`}
        >
          {ticks.map(tick => (
            <g key={tick}>
              <line
                class="chart-line"
                x1={reversed ? 0 : axisWidth}
                x2={reversed ? plot.width : width}
                y1={y(tick)}
                y2={y(tick)}
              />
              <text
                class="chart-text"
                x={reversed ? width - axisWidth + 8 : axisWidth - 8}
                y={y(tick) + 4}
                text-anchor="end"
              >
                {tickText(tick, measure)}
              </text>
            </g>
          ))}
          {bars.map(({ key, amount }, i) => {
            const barHeight = amount > 0 ? Math.max(2, plot.height * (amount / topTick)) : 0
            return (
              <rect
                key={key}
                class={i === active ? 'chart-bar active' : 'chart-bar'}
                x={center(i) - barWidth / 2}
                y={top + plot.height - barHeight}
                width={barWidth}
                height={barHeight}
                rx={Math.min(3, barWidth / 2)}
              />
            )
          })}
          {bars.map(({ key, shortLabel }, i) =>
            i % every === Math.floor(every / 2) % every &&
            Math.abs(center(i) - width / 2) < width / 2 - 20 ? (
              <text key={key} class="chart-text" x={center(i)} y={height - 6} text-anchor="middle">
                {shortLabel}
              </text>
            ) : null,
          )}
        </svg>
      )}
      {shown && (
        <div
          class="chart-tip"
          style={{ left: `${Math.min(width - 90, Math.max(90, center(active!)))}px` }}
        >
          <strong>{amountText(shown.amount, measure)}</strong>
          <span>{shown.label}</span>
        </div>
      )}
    </div>
  )
}
