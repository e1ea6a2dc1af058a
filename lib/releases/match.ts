// Matching of releases with tracked series: by ids on other services, by an alias that equals the title, or by a
// similar alias. Three statements for any number of releases.
import type { ReleaseItem } from '../sources/contract.ts'
import type { Sql } from '../store/postgres/db.ts'
import { aliasKey } from './aliases.ts'
import { createSimilarKeys } from './similar.ts'

/** The minimum confidence for adding a release to the ledger. */
const defaultThreshold = 0.7
const confidenceOf = {
  externalId: 1,
  alias: 0.95,
  // From 0.7 for the lowest similarity (0.85) to 0.85 for the highest.
  similar: (similarity: number) => Math.round((similarity - 0.15) * 1_000) / 1_000,
}
const aliasesPerRead = 2_000

/** How the series was found; `others` is the number of other series for which the same holds. */
type MatchReason = { others?: number } & (
  | { by: 'external_id'; source: string; externalId: string }
  | { by: 'alias'; alias: string }
  | { by: 'similar_alias'; alias: string; title: string; similarity: number }
)
export type Match = { seriesId: string; confidence: number; reason: MatchReason }

type Titled = Pick<ReleaseItem, 'seriesTitles' | 'seriesIds'>
type Alias = { seriesId: string; alias: string; key: string; threshold: number | null }

/** The series of each release, the oldest if several match; null if no tracked series does. */
export async function matchSeries(sql: Sql, items: readonly Titled[]): Promise<(Match | null)[]> {
  const matches = await byExternalId(sql, items)
  const rest = () => items.filter((_, i) => matches[i] === null)
  const add = (found: (item: Titled) => Match | null) => {
    for (const [i, item] of items.entries()) matches[i] ??= found(item)
  }
  if (rest().length > 0) add(await byAlias(sql, rest()))
  if (rest().length > 0) add(await bySimilarAlias(sql, rest()))
  return matches
}

async function byExternalId(sql: Sql, items: readonly Titled[]): Promise<(Match | null)[]> {
  const pairs = items.flatMap(({ seriesIds }) => Object.entries(seriesIds))
  if (pairs.length === 0) return items.map(() => null)
  type Row = { seriesId: string; source: string; externalId: string; threshold: number | null }
  const rows = await sql<Row[]>`
    select distinct t.series_id as "seriesId", e.source, e.external_id as "externalId",
      t.confidence_threshold_override as threshold
    from unnest(${pairs.map(([source]) => source)}::text[], ${pairs.map(([, id]) => id)}::text[])
      as wanted(source, external_id)
    join external_reference e
      on e.kind = 'id' and e.source = wanted.source and e.external_id = wanted.external_id
    join series_tracking t on t.series_id = e.series_id and t.tracked
    order by t.series_id`
  const bySeriesId = Map.groupBy(rows, row => JSON.stringify([row.source, row.externalId]))
  return items.map(({ seriesIds }) =>
    best(
      Object.entries(seriesIds).flatMap(([source, externalId]) =>
        (bySeriesId.get(JSON.stringify([source, externalId])) ?? []).map(row => ({
          ...row,
          confidence: confidenceOf.externalId,
          reason: { by: 'external_id' as const, source, externalId },
        })),
      ),
    ),
  )
}

const keysOf = ({ seriesTitles }: Titled) => [
  ...new Set(seriesTitles.map(aliasKey).filter(key => key !== '')),
]

async function byAlias(sql: Sql, items: readonly Titled[]) {
  const keys = [...new Set(items.flatMap(keysOf))]
  const rows = await sql<Alias[]>`
    select a.series_id as "seriesId", a.alias, a.alias_key as key,
      t.confidence_threshold_override as threshold
    from series_alias a
    join series_tracking t on t.series_id = a.series_id and t.tracked
    where a.alias_key = any(${keys})
    order by a.series_id, a.id`
  const byKey = Map.groupBy(rows, row => row.key)
  return (item: Titled) =>
    best(
      keysOf(item).flatMap(key =>
        (byKey.get(key) ?? []).map(({ alias, ...row }) => ({
          ...row,
          confidence: confidenceOf.alias,
          reason: { by: 'alias' as const, alias },
        })),
      ),
    )
}

/** Reads all aliases in chunks, so that memory depends only on the releases. */
async function bySimilarAlias(sql: Sql, items: readonly Titled[]) {
  const compare = createSimilarKeys(items.flatMap(keysOf))
  const found = new Map<string, Candidate[]>()
  const read = sql<Alias[]>`
    select a.series_id as "seriesId", a.alias, a.alias_key as key,
      t.confidence_threshold_override as threshold
    from series_alias a
    join series_tracking t on t.series_id = a.series_id and t.tracked`.cursor(aliasesPerRead)
  for await (const aliases of read)
    for (const { seriesId, alias, key, threshold } of aliases)
      compare(key, (title, similarity) => {
        const rounded = Math.round(similarity * 1_000) / 1_000
        const candidates = found.get(title) ?? []
        found.set(title, candidates)
        candidates.push({
          ...{ seriesId, threshold, confidence: confidenceOf.similar(similarity) },
          reason: { by: 'similar_alias', alias, title, similarity: rounded },
        })
      })
  return (item: Titled) => best(keysOf(item).flatMap(key => found.get(key) ?? []))
}

type Candidate = Match & { threshold: number | null }

function best(candidates: readonly Candidate[]): Match | null {
  const accepted = candidates.filter(
    ({ confidence, threshold }) => confidence >= (threshold ?? defaultThreshold),
  )
  if (accepted.length === 0) return null
  const confidence = Math.max(...accepted.map(candidate => candidate.confidence))
  const equal = accepted.filter(candidate => candidate.confidence === confidence)
  const first = equal.reduce((a, b) => (b.seriesId < a.seriesId ? b : a))
  const others = new Set(equal.map(({ seriesId }) => seriesId)).size - 1
  const { seriesId, reason } = first
  return { seriesId, confidence, reason: others > 0 ? { ...reason, others } : reason }
}
