// Report of the grid: shares by group, and the slowest cases with the plans of their slowest statements.
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { GridCase, Group } from './cases.ts'
import type { Statement } from './client.ts'

/** Milliseconds are the fastest round after the first, whole request; `cpuMs` is the database's part. */
export type Measured = {
  one: GridCase
  viewer: string
  page: number | null
  total: number | null
  ms: number
  cpuMs: number
  firstMs: number
  firstCpuMs: number
  status: number
  statements: Statement[]
}

/** Upper bounds of the 95th percentile in milliseconds. */
const bounds: Record<Group, number> = {
  single: 60,
  plain: 60,
  facets: 60,
  search: 60,
  full: 60,
  pairs: 120,
}
const maxMs = 250

export type GroupSummary = {
  group: Group
  cases: number
  p50: number
  p95: number
  max: number
  cpu50: number
  cpu95: number
  first50: number
  first95: number
  over60: string
  over120: string
  over250: string
  failed: number
  isWithin: boolean
}

/** `by` is what is compared with the bounds: on a busy machine the time on the processor. */
export function summarize(all: Measured[], by: 'ms' | 'cpuMs'): GroupSummary[] {
  const groups = [...new Set(all.map(({ one }) => one.group))]
  return groups.map(group => {
    const some = all.filter(({ one }) => one.group === group)
    const times = some.map(({ ms }) => ms)
    const work = some.map(({ cpuMs }) => cpuMs)
    const judged = some.map(row => row[by])
    const first = some.map(row => (by === 'ms' ? row.firstMs : row.firstCpuMs))
    const share = (limit: number) =>
      `${((judged.filter(ms => ms > limit).length * 100) / some.length).toFixed(1)} %`
    const failed = some.filter(({ status }) => status !== 200).length
    return {
      group,
      cases: some.length,
      ...{ p50: at(times, 0.5), p95: at(times, 0.95), max: at(times, 1) },
      ...{ cpu50: at(work, 0.5), cpu95: at(work, 0.95) },
      ...{ first50: at(first, 0.5), first95: at(first, 0.95) },
      ...{ over60: share(60), over120: share(120), over250: share(maxMs) },
      failed,
      isWithin: failed === 0 && at(judged, 0.95) <= bounds[group] && at(judged, 1) <= maxMs,
    }
  })
}

function at(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 10) / 10
}

/** Markdown: the groups, the slowest cases as a table, then their plans. */
export async function writeReport(
  sql: Sql,
  { groups, worst }: { groups: GroupSummary[]; worst: Measured[] },
): Promise<string> {
  const lines = [
    '| group | cases | p50 | p95 | max | CPU p50 | CPU p95 | first p50 | first p95 | over 60 | over 120 | over 250 | failed |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...groups.map(g =>
      row(
        ...[g.group, g.cases, g.p50, g.p95, g.max, g.cpu50, g.cpu95, g.first50, g.first95],
        ...[g.over60, g.over120, g.over250, g.failed],
      ),
    ),
    '',
    '| ms | CPU ms | status | total | viewer | path | page | case |',
    '|---|---|---|---|---|---|---|---|',
    ...worst.map(({ one, viewer, page, total, ms, cpuMs, status }) =>
      row(
        ...[Math.round(ms), Math.round(cpuMs), status, total ?? '', viewer],
        ...[one.path, page ?? '', one.name],
      ),
    ),
  ]
  for (const { one, viewer, page, ms, statements } of worst) {
    lines.push('', `## ${Math.round(ms)} ms: ${one.name}`, '')
    lines.push(`${viewer}, ${one.path}, page ${page ?? 1}`, '')
    if (one.body) lines.push('```json', JSON.stringify(one.body), '```')
    lines.push('```', await slowestPlan(sql, statements), '```')
  }
  return `${lines.join('\n')}\n`
}

const row = (...cells: (string | number)[]) =>
  `| ${cells.map(cell => String(cell).replaceAll('|', '\\|')).join(' | ')} |`

/** EXPLAIN ANALYZE of the statement that takes longest, with its text. */
async function slowestPlan(sql: Sql, statements: Statement[]): Promise<string> {
  let slowest = { ms: -1, text: 'No statement was recorded.' }
  for (const { text, values } of statements) {
    if (!/^\s*(with|select)\b/i.test(text)) continue
    try {
      const rows = await sql.begin(async tx => {
        await tx`set local statement_timeout = 30000`
        return await tx.unsafe<{ 'QUERY PLAN': string }[]>(
          `explain (analyze, buffers) ${text}`,
          values as never[],
          { prepare: false },
        )
      })
      const plan = rows.map(line => line['QUERY PLAN'].slice(0, 400))
      const ms = Number(/Execution Time: ([\d.]+)/.exec(plan.join('\n'))?.[1] ?? 0)
      if (ms > slowest.ms)
        slowest = { ms, text: `${text.trim().replaceAll(/\n\s*\n/g, '\n')}\n\n${plan.join('\n')}` }
    } catch (error) {
      const { message } = error as Error
      slowest = { ms: Number.POSITIVE_INFINITY, text: `${text.trim()}\n\n${message}` }
    }
  }
  return slowest.text
}
