// Libraries: folders on the server whose books the catalogue holds.
import { realpathSync, statSync } from 'node:fs'
import { basename, isAbsolute, resolve } from 'node:path'
import type { Sql, TransactionSql } from 'postgres'
import { seesLibrary, type Viewer } from '../../auth/viewer.ts'
import { Invalid, NotFound } from '../../errors.ts'
import { tell } from '../../event/publish.ts'
import { newId } from '../../id.ts'
import { pathText } from '../../path.ts'
import { validateStrategy } from '../../strategy/series.ts'

export type LibraryRow = { id: string; name: string; root: Buffer; bookCount: number }

export type NewLibrary = {
  name?: string | undefined
  /** Absolute path as bytes. */
  root: Buffer
  seriesStrategy?: string | undefined
  seriesConfig?: Record<string, unknown> | undefined
}

/** The library that holds `path`: its root, or a folder around it. Null when there is none. */
export async function libraryAround(sql: Sql, path: Buffer): Promise<LibraryRow | null> {
  const rows = await sql<LibraryRow[]>`
    select id, name, root, book_count as "bookCount"
    from library
    where root = any(${selfAndAbove(path)}::text[]::bytea[]) and deleting_at is null
    order by length(root) desc
    limit 1`
  return rows[0] ?? null
}

/** Throws NotFound unless the viewer sees this library. */
export async function requireLibrary(
  sql: Sql | TransactionSql,
  viewer: Viewer,
  id: string,
): Promise<void> {
  const [row] = await sql`
    select 1 from library l
    where l.id = ${id} and l.deleting_at is null and ${seesLibrary(sql, viewer)}`
  if (!row) throw new NotFound('Library not found')
}

/** Adds a library and tells of it, or answers the one that has this root. Throws Invalid for a root that is no readable folder or a strategy that is none. */
export async function createLibrary(sql: Sql, library: NewLibrary): Promise<LibraryRow> {
  const strategy = library.seriesStrategy ?? 'series_volume'
  const config = validateStrategy(strategy, library.seriesConfig ?? {})
  const text = pathText(library.root)
  if (!isAbsolute(text)) throw new Invalid('The path of a library must be absolute')
  const device = String(folderAt(library.root).dev)
  const made = await sql.begin(async tx => {
    const [row] = await tx<LibraryRow[]>`
      insert into library (id, name, root, device, series_strategy, series_config)
      values (${newId()}, ${library.name ?? (basename(text) || text)}, ${library.root}, ${device},
        ${strategy}, ${tx.json(config as never)})
      on conflict (sha256(root)) where deleting_at is null do nothing
      returning id, name, root, book_count as "bookCount"`
    if (!row) return row
    // Everyone's list of libraries is remembered while one is being removed (lib/auth/identity.ts).
    await tx`
      select pg_notify('account', '*')
      where exists (select from library where deleting_at is not null)`
    await tell(tx, [{ type: 'library_created', libraryId: row.id }])
    return row
  })
  if (made) return made
  // Someone made it meanwhile: a new statement sees it.
  const [theirs] = await sql<LibraryRow[]>`
    select id, name, root, book_count as "bookCount" from library
    where sha256(root) = sha256(${library.root}::bytea) and deleting_at is null`
  return theirs!
}

/** A path given by a user as the absolute bytes the catalogue keeps: symlinks above it resolved, no trailing slash. */
export function rootBytes(path: string): Buffer {
  const absolute = resolve(path)
  try {
    return realpathSync.native(absolute, { encoding: 'buffer' })
  } catch {
    return Buffer.from(absolute)
  }
}

function folderAt(root: Buffer) {
  try {
    const stat = statSync(root)
    if (stat.isDirectory()) return stat
  } catch (error) {
    throw new Invalid(`${pathText(root)} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  throw new Invalid(`${pathText(root)} is not a folder`)
}

function selfAndAbove(path: Buffer): string[] {
  const out = [path]
  for (let i = path.length - 1; i >= 0; i--)
    if (path[i] === 0x2f) out.push(path.subarray(0, Math.max(i, 1)))
  return out.map(p => `\\x${p.toString('hex')}`)
}
