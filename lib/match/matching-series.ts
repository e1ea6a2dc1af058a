// Series of a library that meet conditions, counted and paged.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { hasVisibleBook, type Viewer, visibleLibrary, visibleSeries } from '../accounts/viewer.ts'
import { Invalid, NotFound } from '../base/errors.ts'
import { createMeter, maxSteps } from '../base/meter.ts'
import { seriesContexts } from '../catalog/metadata/template-context.ts'
import type { Queryable } from '../store/postgres/db.ts'
import { type Conditions, compileConditions } from './condition.ts'

/** Null if the library has none. Throws NotFound unless the viewer may see the library. */
export async function libraryConditions(
  sql: Queryable,
  viewer: Viewer,
  libraryId: string,
): Promise<Conditions | null> {
  const [row] = await sql<{ conditions: Conditions | null }[]>`
    select l.auto_match_conditions as conditions from library l
    where l.id = ${libraryId} and l.deleting_at is null and ${visibleLibrary(sql, viewer)}`
  if (!row) throw new NotFound('Library not found')
  return row.conditions
}

export type MatchingSeries = { id: string; title: string; bookCount: number }

type Request = {
  libraryId: string
  conditions: Conditions | null
  offset: number
  pageSize: number
}

// Their contexts are in memory at the same time.
const batch = 200
// About 10 s; loading each series also counts as steps.
const maxTotalSteps = 10_000_000
const readingSteps = 20
// Other requests wait at most this long plus the time of one series.
const maxBlockMs = 10

/**
 * The visible series of a library that match, by title; `total` counts the matches, `checked` all series. Throws
 * Invalid when the conditions take too many steps in total.
 */
export async function matchingSeries(
  sql: Queryable,
  viewer: Viewer,
  { libraryId, conditions, offset, pageSize }: Request,
): Promise<{ data: MatchingSeries[]; total: number; checked: number }> {
  const holds = compileConditions(conditions ?? { rules: [] })
  const data: MatchingSeries[] = []
  let total = 0
  let checked = 0
  let steps = 0
  let since = performance.now()
  let last: { sortKey: string; id: string } | undefined
  do {
    const after = last ? sql`(s.sort_key, s.id) > (${last.sortKey}, ${last.id}::uuid)` : sql`true`
    const rows = await sql<{ id: string; sortKey: string; title: string }[]>`
      select s.id, s.sort_key as "sortKey", s.title from series s
      where s.library_id = ${libraryId} and s.book_count > 0 and ${visibleSeries(sql, viewer)}
        and ${hasVisibleBook(sql, viewer)} and ${after}
      order by s.sort_key, s.id
      limit ${batch}`
    const contexts = await seriesContexts(
      sql,
      viewer,
      rows.map(({ id }) => id),
    )
    since = performance.now()
    for (const { id, title } of rows) {
      const context = contexts.get(id)
      if (!context) continue
      checked += 1
      if (performance.now() - since > maxBlockMs) {
        await yieldToEventLoop()
        since = performance.now()
      }
      const meter = createMeter('conditions')
      const isMatch = holds(context, meter)
      steps += readingSteps + maxSteps - meter.left()
      if (steps > maxTotalSteps)
        throw new Invalid('conditions take too many steps for the series of the library')
      if (!isMatch) continue
      if (total >= offset && data.length < pageSize)
        data.push({ id, title, bookCount: context.bookCount })
      total += 1
    }
    last = rows.length === batch ? rows.at(-1) : undefined
  } while (last)
  return { data, total, checked }
}
