// The server as it is installed, over a library that it has scanned.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLibrary } from '../../lib/catalog/library/library.ts'
import { loadConfig } from '../../lib/config/config.ts'
import { openDatabase, type Sql } from '../../lib/postgres/db.ts'
import { migrate } from '../../lib/postgres/migrate.ts'
import { administratorKey } from '../kit/key.ts'
import type { Library } from './library.ts'

export type Server = Awaited<ReturnType<typeof serveLibrary>>

/** Scans the library to the end, covers included, unless `data` knows it already. To be closed. */
export async function serveLibrary(data: string, { root, damaged }: Library) {
  const config = loadConfig({ env: {}, flags: { data_dir: data } })
  const { sql, url, close } = await openDatabase(config)
  await migrate(sql)
  const [known] = await sql`select from library`
  const key = await administratorKey(sql)
  const { server, base } = await start(data, url)
  const headers = { 'x-api-key': key }
  if (!known) {
    const library = await createLibrary(sql, { root: Buffer.from(root), name: 'Made & <mixed>' })
    await fetch(`${base}/api/v1/libraries/${library.id}/scan`, { method: 'POST', headers })
    await settled(sql, library.id)
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
        Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) /
          1024,
      ),
    async close() {
      server.kill('SIGTERM')
      await once(server, 'exit')
      await close()
    },
  }
}

async function start(data: string, url: string): Promise<{ server: ChildProcess; base: string }> {
  const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')
  const flags = ['--port', '0', '--data', data, '--database-url', url]
  const settings = { RATE_LIMIT__ENABLED: 'false', LOGGING__LEVEL: 'warn' }
  const env = Object.entries(settings).map(([name, value]) => [`STACKROOM_${name}`, value])
  const server = spawn(process.execPath, [launcher, 'serve', ...flags], {
    env: { ...process.env, ...Object.fromEntries(env) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const chunk of server.stdout) {
    said += chunk
    const found = said.match(/http:\/\/\S+/)
    if (found) {
      server.stdout.resume()
      return { server, base: found[0].replace(/\/$/, '') }
    }
  }
  throw new Error('the server does not start')
}

/** Until the scan is over and nothing is left to be made. */
async function settled(sql: Sql, libraryId: string) {
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
