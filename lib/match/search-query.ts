// The text for searching a source for a series: its template, then title rules.

import { compileRules, type TitleRule } from '../media/strategy/title-rules.ts'
import { compileTemplate } from '../sources/template/template.ts'
import type { Queryable } from '../store/postgres/db.ts'
import { type Matching, templateOf } from './matching-settings.ts'

const maxLength = 500

/** Returns a function of a context and its library's title rules; its result may be empty. */
export function compileQuery(matching: Matching) {
  const render = compileTemplate(templateOf(matching), 'searchTemplate')
  const ownRules = compileRules(matching.titleRules)
  const ofLibrary = new Map<string, (title: string) => string>()
  return (context: unknown, library: { id: string; titleRules: readonly TitleRule[] }): string => {
    const rules = ofLibrary.get(library.id) ?? compileRules(library.titleRules)
    ofLibrary.set(library.id, rules)
    const text = render(context).replace(/\s+/g, ' ').trim()
    return ownRules(rules(text)).replace(/\s+/g, ' ').trim().slice(0, maxLength)
  }
}

export type SeriesLibrary = {
  id: string
  titleRules: TitleRule[]
  conditions: Parameters<typeof import('./condition.ts').compileConditions>[0] | null
}

/** The libraries of series, by series id. */
export async function librariesOf(
  sql: Queryable,
  seriesIds: readonly string[],
): Promise<Map<string, SeriesLibrary>> {
  const rows = await sql<(SeriesLibrary & { seriesId: string })[]>`
    select s.id as "seriesId", l.id, l.title_preprocessing_rules as "titleRules",
      l.auto_match_conditions as conditions
    from series s join library l on l.id = s.library_id
    where s.id = any(${seriesIds as string[]}::uuid[])`
  return new Map(rows.map(({ seriesId, ...library }) => [seriesId, library]))
}
