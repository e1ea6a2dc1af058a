// Server process started as installed, with a scanned library.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findOrCreateLibrary } from '../../lib/catalog/library/library-write.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase, type Sql } from '../../lib/store/postgres/db.ts'
import { migrate } from '../../lib/store/postgres/migrate.ts'
import { insertAccount } from '../../test/kit/accounts.ts'
import { startStackroom, stopProcess } from '../kit/server-process.ts'
import type { Library } from './library.ts'

export type Server = Awaited<ReturnType<typeof serveLibrary>>

/** Scans the library to the end, covers included, unless `data` knows it already. To be closed. */
export async function serveLibrary(data: string, { root, damaged }: Library) {
  const config = loadConfig({ env: {}, flags: { data_dir: data } })
  const { sql, url, close } = await openDatabase(config)
  await migrate(sql)
  const [known] = await sql`select from library`
  const { key } = await insertAccount(sql, 'admin')
  const flags = ['--data', data, '--database-url', url]
  const { child, base } = await startStackroom(flags, { STACKROOM_LOGGING__LEVEL: 'warn' })
  const headers = { 'x-api-key': key }
  if (!known) {
    const library = await findOrCreateLibrary(sql, {
      root: Buffer.from(root),
      name: 'Made & <mixed>',
    })
    await fetch(`${base}/api/v1/libraries/${library.id}/scan`, { method: 'POST', headers })
    await pipelineIdle(sql, library.id)
  }
  await begin(sql, base, headers)
  const books = await placesOf(sql)
  return {
    base,
    headers,
    books: books.size,
    /** Ids of books that are not to be believed. */
    damaged: [...books].flatMap(([id, path]) => (damaged.has(path) ? [id] : [])),
    /** Megabytes that the process holds. */
    memory: () =>
      Math.round(
        Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
      ),
    async close() {
      await stopProcess(child)
      await close()
    },
  }
}

/** Until the scan is over and nothing is left to be made. */
async function pipelineIdle(sql: Sql, libraryId: string) {
  for (let quiet = 0; quiet < 3; ) {
    await sleep(500)
    const [row] = await sql<{ busy: boolean }[]>`
      select not exists (select from scan where library_id = ${libraryId} and finished_at is not null)
        or exists (select from pgboss.job where state < 'completed'
          and name in ('index', 'cover', 'hash', 'scan')) as busy`
    quiet = row!.busy ? 0 : quiet + 1
  }
}

/** Paths below the library by ids. */
async function placesOf(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; folder: Uint8Array; name: Uint8Array }[]>`
    select b.id, d.path as folder, b.name from book b join directory d on d.id = b.directory_id`
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
  return new Map(rows.map(({ id, folder, name }) => [id, join(text(folder), text(name))]))
}

/** Some books are begun and some are read. */
async function begin(sql: Sql, base: string, headers: Record<string, string>) {
  const books = await sql<{ id: string }[]>`
    select id from book where error_code is null order by id`
  for (const [i, { id }] of books.entries()) {
    if (i % 25 > 1) continue
    await fetch(`${base}/api/v1/books/${id}/progress`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(i % 25 === 0 ? { completed: true } : { currentPage: 1 }),
    })
  }
}
