// Titles of series by the title rules of their libraries, as new series get them.
import type { Fragment } from 'postgres'
import type { Queryable } from '../../postgres/db.ts'
import { compileRules, type TitleRule } from '../../strategy/title-rules.ts'

/** The title of a series by its name, that of its folder for example. */
export function titleByRules(rules: (title: string) => string, name: string): string {
  return rules(name).trim() || name
}

/**
 * The series among `ids` (a query) whose title would be another one by the rules, with that title. Titles
 * that are locked, set by a user or stated by the files of a series are left out.
 */
export async function titlesByRules(
  sql: Queryable,
  ids: Fragment,
): Promise<{ id: string; title: string }[]> {
  const rows = await sql<
    { id: string; name: string; title: string; libraryId: string; rules: TitleRule[] }[]
  >`
    select s.id, s.name, s.title, s.library_id as "libraryId",
      l.title_preprocessing_rules as rules
    from series s join library l on l.id = s.library_id
    where s.id in (${ids}) and not 'title' = any(s.locks) and not s.provenance ? 'title'`
  const compiled = new Map<string, (title: string) => string>()
  return rows.flatMap(({ id, name, title, libraryId, rules }) => {
    const apply = compiled.get(libraryId) ?? compileRules(rules)
    compiled.set(libraryId, apply)
    const titleNow = titleByRules(apply, name)
    return titleNow === title ? [] : [{ id, title: titleNow }]
  })
}
