// Choice of the predicates whose matching books are collected first, as sets of ids ("hits"), instead of
// being tested book by book: those that hold, or fail, for few books as PostgreSQL estimates.
import type { Fragment, Sql } from 'postgres'
import { unprepared } from '../../../postgres/statement.ts'
import type { RowSource } from './row-sources.ts'

/** `rows`: books (id, series_id) for which the predicate holds, or fails if `isNegated`. */
export type HitSet = { rows: Fragment; isNegated: boolean }

/** By the keys of `sources`; predicates that are not in it are tested book by book. */
export type HitSets = ReadonlyMap<string, HitSet>

/** Collected on the first pages of a list: more are tested faster book by book. */
export const fewHits = 60_000
/** Collected for walks of many rows, if the server has the memory for it: half of a million books. */
export const maxHits = 520_000
// As the planner reckons an id in a hashed subplan.
const bytesPerId = 40

// Trigram matches are looked up one by one.
const maxCandidates = 40_000
// Estimates of long conditions would take longer than their books.
const maxSets = 8

/** How many ids a hashed subplan may have: one with more would be searched from end to end for each row. */
async function hashableIds(sql: Sql): Promise<number> {
  const [row] = await sql<{ ids: number }[]>`
    select pg_size_bytes(current_setting('work_mem')) * current_setting('hash_mem_multiplier')::float8
      / ${bytesPerId}::float8 as ids`
  return row!.ids * 0.9
}

/** `limit`: the most books of one set. */
export async function chooseHitSets(
  sql: Sql,
  sources: ReadonlyMap<string, RowSource>,
  limit: number,
): Promise<HitSets> {
  const chosen = new Map<string, HitSet>()
  if (sources.size === 0 || sources.size > maxSets) return chosen
  const hashable = Math.min(maxHits, await hashableIds(sql))
  for (const [key, source] of sources) {
    const most = source.isCostly ? hashable : Math.min(limit, hashable)
    const set = await chooseHitSet(sql, source, most)
    if (set) chosen.set(key, set)
  }
  return chosen
}

/** Null if more than `limit` books meet the predicate and more than `limit` do not. */
export async function chooseHitSet(
  sql: Sql,
  source: RowSource,
  limit: number,
): Promise<HitSet | null> {
  const { holds, fails, narrowed } = source
  if (narrowed && (await estimateRows(sql, narrowed.candidates)) <= maxCandidates)
    return { rows: narrowed.rows, isNegated: false }
  if ((await estimateRows(sql, holds)) <= limit) return { rows: holds, isNegated: false }
  if (fails && (await estimateRows(sql, fails)) <= limit) return { rows: fails, isNegated: true }
  return null
}

async function estimateRows(sql: Sql, query: Fragment): Promise<number> {
  type Explained = { 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }
  const [row] = await unprepared(sql<Explained[]>`explain (format json) ${query}`)
  return row!['QUERY PLAN'][0].Plan['Plan Rows']
}
