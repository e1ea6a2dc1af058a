// Folder watching under load: thousands of books are copied into a watched library; whether all appear
// complete and without errors, the delay after their last byte, and the memory that watching takes.
// node bench/watch.ts [--books 10000] [--perFolder 20] [--folders 2500] [--filesPerFolder 20]
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openLog } from '../lib/base/log.ts'
import { findOrCreateLibrary } from '../lib/catalog/library/library-write.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase, type Sql } from '../lib/store/postgres/db.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { startPipeline } from '../pipeline/pipeline.ts'
import { openFolderWatch } from '../pipeline/watch/watch-folders.ts'
import { comic } from '../test/kit/library.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    books: { type: 'string', default: '10000' },
    perFolder: { type: 'string', default: '20' },
    folders: { type: 'string', default: '2500' },
    filesPerFolder: { type: 'string', default: '20' },
  },
})
const books = Number(values.books)
const perFolder = Number(values.perFolder)
const at = mkdtempSync(join(tmpdir(), 'stackroom-bench-watch-'))

try {
  await memory()
  await copying()
} finally {
  rmSync(at, { recursive: true, force: true })
}

/** Resident memory before and after a tree is watched. */
async function memory() {
  const [folders, files] = [Number(values.folders), Number(values.filesPerFolder)]
  const root = join(at, 'tree')
  for (let i = 0; i < folders; i++) {
    const folder = join(root, String(i % 50), String(i))
    mkdirSync(folder, { recursive: true })
    for (let j = 0; j < files; j++) await (await open(join(folder, `${j}.cbz`), 'w')).close()
  }
  const before = process.memoryUsage.rss()
  const watch = openFolderWatch()
  const started = performance.now()
  await watch.watch(Buffer.from(root), { onChanged() {}, onFailed() {} })
  const ms = performance.now() - started
  await sleep(500)
  const rssDeltaMb = (process.memoryUsage.rss() - before) / 1e6
  const closing = performance.now()
  await watch.close()
  const closeMs = performance.now() - closing
  print({ folders: folders + 51, files: folders * files, readyMs: ms, rssDeltaMb, closeMs })
}

async function copying() {
  const flags = { data_dir: join(at, 'data') }
  const config = loadConfig({ env: {}, flags })
  const database = await openDatabase(config)
  const { sql } = database
  await migrate(sql)
  const pipeline = await startPipeline({ sql, config, log: openLog({ level: 'warn' }) })
  try {
    const root = join(at, 'library')
    mkdirSync(root)
    const { id } = await findOrCreateLibrary(sql, { root: Buffer.from(root) })
    await sql`update library set scanning_config = '{"watch": "on"}' where id = ${id}`
    while ((await mode(sql, id)) !== 'watching') await sleep(50)
    const copied = copyAll(root)
    const seen = await watchRows(sql, copied)
    await report(sql, id, { ...copied, seen })
  } finally {
    await pipeline.close()
    await database.close()
  }
}

async function mode(sql: Sql, id: string) {
  const [row] = await sql`select mode from library_watch where library_id = ${id}`
  return row?.mode
}

type Copied = { written: Map<string, number>; done: Promise<number> }

/** Writes the books one after the other, each in three pieces; notes when each was whole. */
function copyAll(root: string): Copied {
  const written = new Map<string, number>()
  const write = async () => {
    const started = performance.now()
    for (let i = 0; i < books; i++) {
      const folder = join(root, `Series ${Math.floor(i / perFolder)}`)
      mkdirSync(folder, { recursive: true })
      const name = `${i}.cbz`
      const bytes = comic({ pages: 1 + (i % 5) })
      const file = await open(join(folder, name), 'w')
      const third = Math.ceil(bytes.length / 3)
      for (let from = 0; from < bytes.length; from += third)
        await file.write(bytes.subarray(from, from + third))
      await file.close()
      written.set(name, Date.now())
    }
    return (performance.now() - started) / 1000
  }
  return { written, done: write() }
}

/** When each book was first seen in the catalog; give or take 200 ms. */
async function watchRows(sql: Sql, { done }: Copied) {
  const seen = new Map<string, number>()
  let isWritten = false
  void done.then(() => {
    isWritten = true
  })
  let last = Date.now()
  while ((!isWritten || seen.size < books) && Date.now() - last < 120_000) {
    const rows = await sql<{ name: string }[]>`
      select convert_from(name, 'utf8') as name from book where missing_at is null`
    const now = Date.now()
    for (const { name } of rows) {
      if (seen.has(name)) continue
      seen.set(name, now)
      last = now
    }
    await sleep(200)
  }
  return seen
}

async function report(
  sql: Sql,
  libraryId: string,
  { written, done, seen }: Copied & { seen: Map<string, number> },
) {
  const [row] = await sql`
    select count(*)::integer as books, count(error_code)::integer as errors,
      count(*) filter (where page_count <> 1 + split_part(convert_from(name, 'utf8'), '.', 1)::integer % 5)
        ::integer as "wrongPages",
      (select count(*)::integer from scan) as scans,
      (select coalesce(sum(changed), 0)::integer from scan) as "readTwice"
    from book where library_id = ${libraryId} and missing_at is null`
  const waits = [...seen].map(([name, at]) => at - written.get(name)!).sort((a, b) => a - b)
  const share = (part: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * part))]
  print({
    copied: books,
    copySeconds: await done,
    ...row,
    visibleAfterMs: { p50: share(0.5), p95: share(0.95), most: waits.at(-1) },
  })
}
