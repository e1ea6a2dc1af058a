// How series and books are matched with a metadata source: which of them, what is searched for, and which fields the source may set.
import { NotFound } from '../base/errors.ts'
import {
  body,
  list,
  maybe,
  oneOf,
  optional,
  type Static,
  Type,
  text,
  uuid,
} from '../base/schema.ts'
import {
  compileRules,
  type TitleRule,
  titleRule,
  validateRules,
} from '../media/strategy/title-rules.ts'
import { maxTemplateLength } from '../sources/template/syntax.ts'
import { compileTemplate } from '../sources/template/template.ts'
import type { Queryable } from '../store/postgres/db.ts'
import { ConditionsInput, checkConditions } from './condition.ts'
import { type MatchedField, matchedFields } from './fields.ts'

const defaultTemplate = '{{metadata.title}}'

export const MatchingSettings = body('MatchingSettings', {
  enabled: maybe(
    Type.Boolean({
      default: true,
      description: 'Whether the source takes part in automatic matching.',
    }),
  ),
  priority: maybe(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 50,
      description:
        'Automatic matching leaves fields unchanged that a source with a higher priority has set.',
    }),
  ),
  libraryIds: optional(
    list(uuid(), { maxItems: 1000, description: 'Libraries to match; null for all.' }),
  ),
  searchTemplate: optional(
    text(maxTemplateLength, {
      description: `Template of the search text; null for \`${defaultTemplate}\`.`,
    }),
  ),
  titleRules: maybe(
    list(titleRule, {
      maxItems: 100,
      description: "Applied to the template's text, after the title rules of the library.",
    }),
  ),
  conditions: optional(ConditionsInput),
  usesExternalIds: maybe(
    Type.Boolean({
      default: true,
      description:
        'Whether a series or book with an external id of the source is matched by that id, without a search.',
    }),
  ),
  fields: optional(
    list(oneOf(matchedFields), {
      maxItems: matchedFields.length,
      description: 'Fields that the source may set; null for all.',
    }),
  ),
})
type MatchingInput = Static<typeof MatchingSettings>

export type Matching = {
  enabled: boolean
  priority: number
  libraryIds: string[] | null
  searchTemplate: string | null
  titleRules: TitleRule[]
  conditions: Static<typeof ConditionsInput> | null
  usesExternalIds: boolean
  fields: MatchedField[] | null
}

export const defaultMatching: Matching = {
  enabled: true,
  priority: 50,
  libraryIds: null,
  searchTemplate: null,
  titleRules: [],
  conditions: null,
  usesExternalIds: true,
  fields: null,
}

/** Throws NotFound. */
export async function matchingOf(sql: Queryable, sourceId: string): Promise<Matching> {
  const matching = (await matchingsOf(sql, [sourceId])).get(sourceId)
  if (!matching) throw new NotFound('Source not found')
  return matching
}

/** Settings by source id, for the sources that exist. */
export async function matchingsOf(
  sql: Queryable,
  sourceIds: readonly string[],
): Promise<Map<string, Matching>> {
  const rows = await sql<{ id: string; matching: Partial<Matching> }[]>`
    select id, matching from source where id = any(${sourceIds as string[]}::uuid[])`
  return new Map(rows.map(({ id, matching }) => [id, { ...defaultMatching, ...matching }]))
}

/** Names of the sources with a higher priority. */
export async function higherSources(
  sql: Queryable,
  { priority }: Matching,
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ name: string }[]>`
    select name from source
    where coalesce((matching->>'priority')::integer, ${defaultMatching.priority}) > ${priority}`
  return new Set(rows.map(({ name }) => name))
}

/** Replaces the settings; absent ones get their defaults. Throws NotFound and Invalid. */
export async function storeMatching(
  sql: Queryable,
  sourceId: string,
  input: MatchingInput,
): Promise<Matching> {
  const given = Object.fromEntries(Object.entries(input).filter(([, v]) => v !== undefined))
  const { titleRules, conditions, ...rest } = {
    ...defaultMatching,
    ...(given as Partial<Matching>),
  }
  const matching: Matching = {
    ...rest,
    titleRules: validateRules(titleRules),
    conditions: conditions && checkConditions(conditions, 'body/conditions'),
  }
  if (matching.searchTemplate !== null)
    compileTemplate(matching.searchTemplate, 'body/searchTemplate')
  const { count } = await sql`
    update source set matching = ${sql.json(matching as never)}, updated_at = now()
    where id = ${sourceId}`
  if (count === 0) throw new NotFound('Source not found')
  return matching
}

export const templateOf = ({ searchTemplate }: Matching) => searchTemplate ?? defaultTemplate

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
