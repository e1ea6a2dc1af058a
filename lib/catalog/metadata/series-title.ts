// Titles of series: by their libraries' title rules, as for new series, or as most of their books state.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Fragment } from 'postgres'
import { compileRules, type TitleRule } from '../../media/strategy/title-rules.ts'
import type { Queryable } from '../../store/postgres/db.ts'

/** The title for a series name, which is usually a folder name. */
export function titleByRules(rules: (title: string) => string, name: string): string {
  return rules(name).trim() || name
}

/**
 * The title that more than half of the present books of `series s` state; null if there is none. Books that state no
 * title vote for the folder name.
 */
export function statedTitle(sql: Queryable): Fragment {
  return sql`(
    select embedded_series from (
      select embedded_series, count(*) as votes, sum(count(*)) over () as voters
      from book where series_id = s.id and missing_at is null group by embedded_series) v
    where votes * 2 > voters)`
}

// Other requests wait at most this long plus the time of one title.
const maxBlockMs = 10

/**
 * The series among `ids` (a query) whose title would change by the rules, with that title. Titles that
 * are locked, set by a user or stated by the files of a series are left out. Throws the reason of an
 * aborted signal.
 */
export async function titlesByRules(sql: Queryable, ids: Fragment, signal?: AbortSignal) {
  const rows = await sql<
    { id: string; name: string; title: string; libraryId: string; rules: TitleRule[] }[]
  >`
    select s.id, s.name, s.title, s.library_id as "libraryId",
      l.title_preprocessing_rules as rules
    from series s join library l on l.id = s.library_id
    where s.id in (${ids}) and not 'title' = any(s.locks) and not s.provenance ? 'title'`
  const compiled = new Map<string, (title: string) => string>()
  const changed: { id: string; title: string }[] = []
  let since = performance.now()
  for (const { id, name, title, libraryId, rules } of rows) {
    if (performance.now() - since > maxBlockMs) {
      await yieldToEventLoop()
      signal?.throwIfAborted()
      since = performance.now()
    }
    const apply = compiled.get(libraryId) ?? compileRules(rules)
    compiled.set(libraryId, apply)
    const titleNow = titleByRules(apply, name)
    if (titleNow !== title) changed.push({ id, title: titleNow })
  }
  return changed
}
