// Rules of collections: conditions on series, evaluated for the account that views the collection, also in conditions
// by collection.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { createSingleFlight } from '../../base/async/single-flight.ts'
import { Invalid } from '../../base/errors.ts'
import {
  type Condition,
  type Predicate,
  parseSeriesFilter,
  predicatesOf,
  type SeriesFilter,
} from '../../list/condition.ts'
import { findMatches } from '../../list/sql/series-statement.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { isShownSeries } from '../grouping/grouping.ts'

/** Characters of JSON text. */
const maxRuleLength = 64 * 1024
// Escapes of characters that PostgreSQL cannot store: a null character, an unpaired surrogate.
const unstorable = /\\u(?:0000|d[89a-f])/i

/** Checks the rule of a collection. Throws Invalid, also for a rule by collections, or by sharing tags, which it would reveal. */
export function checkRule(condition: unknown): void {
  parseSeriesFilter(condition, { isRule: true })
  const [parts] = Object.values(condition as object)
  if (Array.isArray(parts) && parts.length === 0)
    throw new Invalid('The condition of a collection must not be empty')
  const text = JSON.stringify(condition)
  if (text.length > maxRuleLength) throw new Invalid('The condition is too long')
  if (unstorable.test(text)) throw new Invalid('The condition has characters that cannot be stored')
}

const matchesNothing: SeriesFilter = { of: 'series', condition: { any: [] } }

/** The filter of a stored rule; a rule that this version does not understand matches nothing. */
export function filterOfRule(rule: unknown): SeriesFilter {
  try {
    return parseSeriesFilter(rule, { isRule: true }) ?? matchesNothing
  } catch {
    return matchesNothing
  }
}

type StoredRule = { id: string; rule: unknown; updatedAt: Date }
/** `match`: a series that the rule selects for the account; null if none. */
type Entry = { match: string | null; lastEvent: number; at: number }

const maxEntries = 20_000
// Changes more recent than this may be missed: finding matches for all rules takes half a second.
const freshMs = 10_000
// A rule about the account's own data may change without an event.
const maxAgeMs = 300_000
/**
 * Ids of the rule-driven collections that select any series for the viewer. The series found for each rule is
 * cached until something changes; whether the viewer still sees it is checked each time.
 */
export function createRuleMatches(pool: Sql) {
  const entries = new LRUCache<string, Entry>({ max: maxEntries })
  const flight = createSingleFlight<string[]>()
  // On the pool: one client that disconnects would cancel the statements for all.
  return (viewer: Viewer) => flight(JSON.stringify(viewer), () => find(viewer))

  async function find(viewer: Viewer): Promise<string[]> {
    const rules = await pool<StoredRule[]>`
      select id, rule, updated_at as "updatedAt" from collection where rule is not null order by id`
    if (rules.length === 0) return []
    const keyOf = ({ id, updatedAt }: StoredRule) =>
      `${viewer.accountId} ${id} ${updatedAt.getTime()}`
    const known = rules.flatMap(rule => entries.get(keyOf(rule))?.match ?? [])
    const [seen] = await pool<{ lastEvent: number; visible: string[] }[]>`
      select (select last_value from event_number_sequence)::float8 as "lastEvent", array(
        select s.id from series s
        where s.id = any(${known}::uuid[]) and ${isShownSeries(pool, viewer)}) as visible`
    const { lastEvent, visible } = seen!
    const now = performance.now()
    const isValid = (entry: Entry | undefined) => {
      if (!entry || now - entry.at > maxAgeMs) return false
      if (entry.match !== null && !visible.includes(entry.match)) return false
      return entry.lastEvent === lastEvent || now - entry.at < freshMs
    }
    const stale = rules.filter(rule => !isValid(entries.get(keyOf(rule))))
    const found = await findMatches(
      pool,
      viewer,
      stale.map(({ rule }) => filterOfRule(rule)),
    )
    for (const [i, rule] of stale.entries())
      entries.set(keyOf(rule), { match: found[i]!, lastEvent, at: now })
    const matching = rules.filter(rule => (entries.get(keyOf(rule))?.match ?? null) !== null)
    return matching.map(({ id }) => id)
  }
}

/** Whether a rule selects any series for the viewer. */
export async function hasMatch(sql: Queryable, viewer: Viewer, rule: unknown): Promise<boolean> {
  const [match] = await findMatches(sql, viewer, [filterOfRule(rule)])
  return match !== null
}

const isByCollection = ({ field }: Predicate) => field === 'collectionId'
const idsOf = ({ test }: Predicate) => (test.kind === 'ids' ? test.ids : [])

/** Takes one statement, or none for conditions without collections. */
export async function resolveCollections(
  sql: Sql,
  filter: SeriesFilter | null,
): Promise<SeriesFilter | null> {
  const ids = filter ? predicatesOf(filter.condition).filter(isByCollection).flatMap(idsOf) : []
  if (!filter || ids.length === 0) return filter
  const rows = await sql<{ id: string; rule: unknown }[]>`
    select id, rule from collection where id = any(${ids}::uuid[]) and rule is not null`
  const rules = new Map(rows.map(({ id, rule }) => [id, filterOfRule(rule).condition]))
  return rules.size === 0 ? filter : { of: 'series', condition: replace(filter.condition, rules) }
}

function replace(condition: Condition, rules: ReadonlyMap<string, Condition>): Condition {
  if ('all' in condition) return { all: condition.all.map(part => replace(part, rules)) }
  if ('any' in condition) return { any: condition.any.map(part => replace(part, rules)) }
  if (!isByCollection(condition)) return condition
  const ids = idsOf(condition)
  const selected = ids.flatMap(id => rules.get(id) ?? [])
  if (selected.length === 0) return condition
  const picked: Predicate = {
    field: 'collectionId',
    test: { kind: 'ids', ids: ids.filter(id => !rules.has(id)) },
    negated: false,
  }
  const either: Condition = { any: [picked, ...selected] }
  return condition.negated ? complement(either) : either
}

function complement(condition: Condition): Condition {
  if ('all' in condition) return { any: condition.all.map(complement) }
  if ('any' in condition) return { all: condition.any.map(complement) }
  return { ...condition, negated: !condition.negated }
}
