// Follows a scan until its books, covers, hashes and duplicates are done: progress on a terminal,
// records on stdout.
import { once } from 'node:events'
import { Conflict } from '../../lib/errors.ts'
import { dedupe } from '../../pipeline/index/dedupe.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import {
  type BookRow,
  type ScanRecord,
  selectBooks,
  toRecord,
} from '../../pipeline/scan/progress.ts'
import type { Stackroom } from '../context.ts'
import { openProgress } from './progress.ts'
import { type Figures, loadFigures } from './summary.ts'

// Records are wanted as they come, and a scan that finds nothing new is over in half a second; a bar
// that moves for minutes is not looked at more often.
const pollMs = { soon: 25, later: 100 }
const soonSeconds = 2
// Polls without a job before a scan counts as given up; a job that changes hands is between two states.
const patience = 200

type Following = {
  scanId: string
  libraryId: string
  records: boolean
  /** Library-relative bytes of the folders and files that are scanned; none means all. */
  inside: Buffer[]
  stopped: () => boolean
}

/** Resolves with the final figures, or with the present ones when `stopped`. */
export async function followScan(
  { sql }: Stackroom,
  pipeline: Pipeline,
  scan: Following,
): Promise<Figures> {
  const started = performance.now()
  const progress = openProgress()
  let orphaned = 0
  const soon = () => scan.records || elapsed() < soonSeconds
  const elapsed = () => (performance.now() - started) / 1000
  try {
    while (!scan.stopped()) {
      if (scan.records) await printRecords(sql, scan)
      const figures = await loadFigures(sql, scan.scanId)
      progress.show(figures)
      const running = figures.state === 'queued' || figures.state === 'running'
      if (!running && !(await pipeline.queue.busy(scan.libraryId, ['index', 'cover', 'hash'])))
        break
      orphaned =
        running && !(await pipeline.queue.busy(scan.libraryId, ['scan'])) ? orphaned + 1 : 0
      if (orphaned > patience) throw new Conflict('The scan was given up; the log says why')
      await new Promise(resolve => setTimeout(resolve, soon() ? pollMs.soon : pollMs.later))
    }
    if (!scan.stopped() && scan.records) {
      await printRecords(sql, scan)
      const { state } = await loadFigures(sql, scan.scanId)
      if (state === 'completed') await printUnchanged(sql, scan)
    }
    const before = performance.now()
    const figures = await loadFigures(sql, scan.scanId)
    const altered = figures.indexed + figures.missing + figures.hashed > 0
    if (!scan.stopped() && altered) await dedupe(sql)
    return {
      ...figures,
      dedupeSeconds: (performance.now() - before) / 1000,
      totalSeconds: elapsed(),
    }
  } finally {
    progress.close()
  }
}

type Sql = Stackroom['sql']

/** Prints and deletes what has come in; at most 500 records are in memory. */
async function printRecords(sql: Sql, scan: Following) {
  while (!scan.stopped()) {
    const rows = await sql<{ id: string; record: ScanRecord }[]>`
      delete from scan_record
      where id in (select id from scan_record where scan_id = ${scan.scanId} order by id limit 500)
      returning id, record`
    if (rows.length === 0) return
    rows.sort((a, b) => Number(a.id) - Number(b.id))
    await print(rows.map(row => row.record))
  }
}

/** Books that the scan had no reason to touch. */
async function printUnchanged(sql: Sql, scan: Following) {
  const isInside = (path: Buffer) => sql`(d.path = ${path}
    or substring(d.path for ${path.length + 1}) = ${Buffer.concat([path, Buffer.from('/')])}
    or (d.path || '/'::bytea || b.name) = ${path} or (d.path = '' and b.name = ${path}))`
  const inside =
    scan.inside.length === 0
      ? sql``
      : sql`and (${scan.inside.map(isInside).reduce((all, one) => sql`${all} or ${one}`)})`
  const books = sql<BookRow[]>`
    ${selectBooks(sql)}
    where b.library_id = ${scan.libraryId} and b.missing_at is null
      and b.scan_id is distinct from ${scan.scanId} ${inside}`.cursor(500)
  for await (const rows of books) {
    if (scan.stopped()) return
    await print(rows.map(row => toRecord(row, 'unchanged')))
  }
}

async function print(records: ScanRecord[]) {
  const text = records.map(record => `${JSON.stringify(record)}\n`).join('')
  if (process.stdout.write(text) || !process.stdout.writable) return
  // The listener that was not needed is taken back.
  const listening = new AbortController()
  const { signal } = listening
  await Promise.race([
    once(process.stdout, 'drain', { signal }),
    once(process.stdout, 'close', { signal }),
  ]).finally(() => listening.abort())
}
