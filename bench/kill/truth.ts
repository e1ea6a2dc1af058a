// Final comparison of disk and reading progress with the catalog.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../../lib/base/id.ts'
import { extensionOf } from '../../lib/base/path.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase, type Sql } from '../../lib/store/postgres/db.ts'
import { defaultExtensions } from '../../pipeline/scan/discover.ts'
import type { Random } from '../../test/kit/random.ts'

/** The user names of accounts that write more than the progress that is followed here begin with it. */
export const writerPrefix = 'writer-'

/** A book with progress. `path` is where its file is now. */
export type Followed = { id: string; page: number; path: string; sha256: string }

const maxFollowed = 300
const maxSamples = 5

/** Library-relative paths of all books on disk. */
export function booksOf(library: string): string[] {
  const entries = readdirSync(library, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile() && defaultExtensions.includes(extensionOf(entry.name)))
    .map(entry => join(entry.parentPath, entry.name).slice(library.length + 1))
}

/** Makes an account and its progress in books whose content is in no other file. */
export async function followBooks(library: string, data: string, random: Random) {
  const files = booksOf(library)
  const hashes = new Map(files.map(path => [path, sha256(join(library, path))]))
  const copies = Map.groupBy(files, path => hashes.get(path)!)
  return await withDatabase(data, async sql => {
    const ids = new Map((await presentBooks(sql)).map(row => [row.path, row.id]))
    const account = newId()
    await sql`
      insert into account (id, username, password_hash) values (${account}, 'reader', '-')`
    const followed = new Map<string, Followed>()
    for (let i = 0; i < maxFollowed; i++) {
      const path = random.pick(files)
      const hash = hashes.get(path)!
      const id = ids.get(path)
      if (id && copies.get(hash)!.length === 1)
        followed.set(id, { id, path, page: i, sha256: hash })
    }
    const books = [...followed.values()]
    await sql`
      insert into progress (account_id, book_id, current_page)
      select ${account}, id, page from jsonb_to_recordset(${sql.json(books)}) as p(id uuid, page integer)`
    return books
  })
}

/** The present books whose content is in no other file, without progress. */
export async function followable(sql: Sql, library: string): Promise<Followed[]> {
  const books = await presentBooks(sql)
  const copies = Map.groupBy(books, book => book.sha256)
  return books
    .filter(book => book.sha256 !== null && copies.get(book.sha256)!.length === 1)
    .filter(book => existsSync(join(library, book.path)))
    .map(({ id, path, sha256 }) => ({ id, path, page: 0, sha256: sha256! }))
}

/** Sentences on what is wrong; none when nothing is. */
export async function judge(
  library: string,
  data: string,
  followed: Followed[],
): Promise<string[]> {
  return await withDatabase(data, async sql => {
    const books = await presentBooks(sql)
    const rows = Map.groupBy(books, book => book.path)
    const files = new Set(booksOf(library))
    const progress = await sql<{ id: string; page: number }[]>`
      select p.book_id as id, p.current_page as page
      from progress p join account a on a.id = p.account_id
      where a.username not like ${`${writerPrefix}%`}`
    const pages = new Map(progress.map(row => [row.id, row.page]))
    return [
      ...problemsOf(
        'files without a book',
        [...files].filter(path => !rows.has(path)),
      ),
      ...problemsOf(
        'books without a file',
        [...rows.keys()].filter(path => !files.has(path)),
      ),
      ...problemsOf(
        'places with two books',
        [...rows].filter(([, all]) => all.length > 1).map(([path]) => path),
      ),
      ...problemsOf(
        'hashes that are not those of the files',
        books
          .filter(b => files.has(b.path) && b.sha256 !== sha256(join(library, b.path)))
          .map(b => b.path),
      ),
      ...problemsOf(
        'books of readers with another id',
        followed.filter(f => rows.get(f.path)?.[0]?.id !== f.id).map(f => f.path),
      ),
      ...problemsOf(
        'lost progress',
        followed.filter(f => pages.get(f.id) !== f.page).map(f => f.path),
      ),
      ...problemsOf('orphaned books', pages.size === followed.length ? [] : [String(pages.size)]),
    ]
  })
}

function problemsOf(what: string, where: string[]): string[] {
  return where.length === 0
    ? []
    : [`${what}: ${where.length}, as ${where.slice(0, maxSamples).join(' | ')}`]
}

async function presentBooks(sql: Sql) {
  const rows = await sql<{ id: string; folder: Buffer; name: Buffer; sha256: string | null }[]>`
    select b.id, d.path as folder, b.name, encode(a.sha256, 'hex') as sha256
    from book b
    join book_artifact a on a.book_id = b.id
    join directory d on d.id = b.directory_id
    where b.missing_at is null`
  return rows.map(({ folder, name, ...row }) => ({
    ...row,
    path: join(folder.toString(), name.toString()),
  }))
}

export async function withDatabase<T>(data: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const config = loadConfig({ env: {}, flags: { data_dir: data } })
  const database = await openDatabase(config)
  try {
    return await work(database.sql)
  } finally {
    await database.close()
  }
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
