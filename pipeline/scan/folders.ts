// Folder rows of the catalog (table directory) for comparing with the disk. Paths are latin1 strings, as in
// listings.
import { hash } from 'node:crypto'
import { newId } from '../../lib/base/id.ts'
import { childPath, parentPath } from '../../lib/base/path.ts'
import type { Sql, Transaction } from '../../lib/store/postgres/db.ts'
import type { Listing } from './walk.ts'

export type Folder = { id: string; digest: string | null; sidecars: Record<string, number> }

/** Stored folders of a batch and their parents, by path. */
export async function storedFolders(sql: Sql, libraryId: string, listings: Listing[]) {
  const paths = new Set(listings.flatMap(l => [l.path, ...ancestors(l.path).slice(-1)]))
  return await foldersByPath(sql, libraryId, [...paths])
}

// The condition of the two partial indexes on paths; a query must repeat it literally.
const maxIndexedLength = 2_000

async function foldersByPath(sql: Sql, libraryId: string, paths: string[]) {
  type Row = Folder & { path: Uint8Array }
  const columns = sql`path, id, encode(digest, 'hex') as digest, sidecars`
  const rows: Row[] = await sql<Row[]>`
    select ${columns}
    from directory
    where library_id = ${libraryId} and length(path) <= 2000
      and path = any(${paths.map(path => `\\x${toHex(path)}`)}::text[]::bytea[])`
  const longPaths = paths.filter(path => path.length > maxIndexedLength)
  if (longPaths.length > 0) {
    const more = await sql<Row[]>`
      select ${columns}
      from directory
      where library_id = ${libraryId} and length(path) > 2000
        and sha256(path) = any(${longPaths.map(pathDigest)}::text[]::bytea[])`
    rows.push(...more)
  }
  return new Map<string, Folder>(
    rows.map(({ path, ...folder }) => [Buffer.from(path).toString('latin1'), folder]),
  )
}

/**
 * Inserts folders that are not stored yet, and their ancestors up to the start of a partial scan; adds them
 * to `folders`. Returns the ids of stored parents that are not among the listings.
 */
export async function createFolders(
  sql: Sql,
  libraryId: string,
  listings: Listing[],
  folders: Map<string, Folder>,
): Promise<string[]> {
  const missing = new Set(
    listings.flatMap(l => [...ancestors(l.path), l.path]).filter(path => !folders.has(path)),
  )
  if (missing.size === 0) return []
  const listed = new Set(listings.map(l => l.path))
  const unlistedAncestors = [...missing].filter(path => !listed.has(path))
  if (unlistedAncestors.length > 0) {
    for (const [path, folder] of await foldersByPath(sql, libraryId, unlistedAncestors)) {
      folders.set(path, { ...folder, digest: null, sidecars: {} })
      missing.delete(path)
    }
  }
  const rows: { id: string; parent: string | null; path: string }[] = []
  for (const path of [...missing].sort()) {
    const id = newId()
    const parent = ancestors(path).at(-1)
    rows.push({
      id,
      parent: parent === undefined ? null : folders.get(parent)!.id,
      path: toHex(path),
    })
    folders.set(path, { id, digest: null, sidecars: {} })
  }
  await sql`
    insert into directory (id, library_id, parent_id, path)
    select id, ${libraryId}, parent, decode(path, 'hex')
    from jsonb_to_recordset(${sql.json(rows)}) as d(id uuid, parent uuid, path text)
    on conflict do nothing`
  const created = new Set(rows.map(row => row.id))
  return rows
    .filter(({ path }) => !listed.has(parentPath(Buffer.from(path, 'hex').toString('latin1'))))
    .map(row => row.parent)
    .filter(id => id !== null && !created.has(id)) as string[]
}

/** Makes the next scan compare these folders file by file. */
export async function resetDigests(sql: Sql, ids: string[]) {
  if (ids.length === 0) return
  await sql`update directory set digest = null where id = any(${ids}::uuid[])`
}

/**
 * Like `resetDigests`, for folders with places that a book has left and no other has taken: their digests
 * still include the book, so if it returned, the folder would count as unchanged. The name is hex.
 */
export async function resetLeftFolders(
  tx: Transaction,
  places: readonly { directoryId: string; name: string }[],
) {
  if (places.length === 0) return
  await tx`
    with left_by as (
      select id from directory d
      where digest is not null and id in (
        select directory
        from unnest(${places.map(p => p.directoryId)}::uuid[], ${places.map(p => p.name)}::text[])
          as p(directory, name)
        where not exists (
          select from book b
          where b.directory_id = p.directory and b.name = decode(p.name, 'hex')
            and b.missing_at is null))
      order by id
      for no key update
    )
    update directory d set digest = null from left_by where d.id = left_by.id`
}

/** Ids of the stored subfolders that these listings no longer contain. */
export async function unlistedFolders(sql: Sql, listings: Listing[], folders: Map<string, Folder>) {
  const parents = listings.map(l => folders.get(l.path)?.id).filter(id => id !== undefined)
  const unlisted: string[] = []
  if (parents.length === 0) return unlisted
  const listed = new Set(listings.flatMap(l => l.folders.map(name => childPath(l.path, name))))
  const children = sql<{ id: string; path: Uint8Array }[]>`
    select id, path from directory where parent_id = any(${parents})`.cursor(1_000)
  for await (const rows of children) {
    for (const row of rows)
      if (!listed.has(Buffer.from(row.path).toString('latin1'))) unlisted.push(row.id)
  }
  return unlisted
}

/** `a/b/c` → ['', 'a', 'a/b']; none for the root itself. */
function ancestors(path: string): string[] {
  if (path === '') return []
  const parts = path.split('/')
  return parts.map((_, i) => parts.slice(0, i).join('/'))
}

export function toHex(latin1: string) {
  return Buffer.from(latin1, 'latin1').toString('hex')
}

function pathDigest(path: string) {
  return `\\x${hash('sha256', Buffer.from(path, 'latin1'), 'hex')}`
}
