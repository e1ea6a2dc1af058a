// Thread that searches dumps: SQLite has no asynchronous calls, and the first use of a dump reads all of it.
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { normalizeSearchText } from '../../media/name/search-text.ts'
import type { FetchedSeries, SeriesHit } from '../contract.ts'
import {
  compileHit,
  compileSeries,
  type HitMapping,
  type SeriesMapping,
  withRelevance,
} from '../mapping/series.ts'
import { buildIndex } from './build.ts'

export type DumpTask = {
  /** The dump and its index. */
  file: string
  index: string
  source: string
  search: HitMapping
  series: SeriesMapping
  operation: { query: string; limit: number } | { externalId: string } | null
}
/** By `operation`: hits, a series, or the number of documents. */
export type DumpResult = SeriesHit[] | FetchedSeries | null | number

const formatVersion = 1
const maxCandidates = 300
const maxWords = 12

export default async function run(task: DumpTask): Promise<DumpResult> {
  const db = await openIndex(task)
  const { operation } = task
  try {
    if (operation === null) {
      const row = db.prepare('select count(*) as count from entry').get() as { count: number }
      return row.count
    }
    return 'query' in operation
      ? search(db, task, operation)
      : fetch(db, task, operation.externalId)
  } finally {
    db.close()
  }
}

/** The index of the current file, built if there is none. */
async function openIndex({ file, index, search }: DumpTask): Promise<DatabaseSync> {
  const { size, mtimeMs } = statSync(file)
  const key = JSON.stringify([formatVersion, file, size, mtimeMs, search])
  const known = tryOpen(index, key)
  if (known) return known
  mkdirSync(dirname(index), { recursive: true, mode: 0o700 })
  await buildIndex({ file, index, key, readHit: compileHit(search, 'config.search') })
  return new DatabaseSync(index, { readOnly: true })
}

function tryOpen(index: string, key: string): DatabaseSync | null {
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(index, { readOnly: true })
    const row = db.prepare('select key from meta').get() as { key: string } | undefined
    if (row?.key === key) return db
  } catch {
    // Missing, or built by a different version.
  }
  db?.close()
  return null
}

type Query = { query: string; limit: number }

function search(db: DatabaseSync, task: DumpTask, { query, limit }: Query): SeriesHit[] {
  const words = normalizeSearchText(query).split(' ').filter(Boolean).slice(0, maxWords)
  if (words.length === 0) return []
  const readHit = compileHit(task.search, 'config.search')
  const rows = db
    .prepare(
      `select e.document from title t join entry e on e.number = t.rowid
       where title match ? order by rank limit ?`,
    )
    .all(words.map(word => `"${word}"*`).join(' OR '), maxCandidates) as { document: string }[]
  return rows
    .flatMap(({ document }) => {
      const hit = readHit(JSON.parse(document))
      return hit === null ? [] : [withRelevance(hit, query)]
    })
    .sort((a, b) => b.relevance - a.relevance)
    .slice(0, limit)
}

function fetch(db: DatabaseSync, task: DumpTask, externalId: string): FetchedSeries | null {
  const row = db.prepare('select document from entry where id = ?').get(externalId) as
    | { document: string }
    | undefined
  if (!row) return null
  const read = compileSeries(task.series, task.source, 'config.series')
  return read(JSON.parse(row.document), externalId)
}
