// The folders of the catalogue, as discovery asks for them. Paths are latin1 strings, as in listings.
import { hash } from 'node:crypto'
import type { Sql } from 'postgres'
import { newId } from '../../lib/id.ts'
import { below, parentOf } from '../../lib/path.ts'
import type { Listing } from './walk.ts'

export type Folder = { id: string; digest: string | null; sidecars: Record<string, number> }

/** Stored folders of the batch and their parents, by path. */
export async function knownFolders(sql: Sql, libraryId: string, listings: Listing[]) {
  const paths = new Set(listings.flatMap(l => [l.path, ...ancestors(l.path).slice(-1)]))
  return await foldersAt(sql, libraryId, [...paths])
}

// As in the two indexes on paths, whose condition a query must state as it is there.
const longestInIndex = 2_000

async function foldersAt(sql: Sql, libraryId: string, paths: string[]) {
  const columns = sql`path, id, encode(digest, 'hex') as digest, sidecars`
  const rows: (Folder & { path: Uint8Array })[] = await sql<(Folder & { path: Uint8Array })[]>`
    select ${columns}
    from directory
    where library_id = ${libraryId} and length(path) <= 2000
      and path = any(${paths.map(path => `\\x${hex(path)}`)}::text[]::bytea[])`
  const long = paths.filter(path => path.length > longestInIndex)
  if (long.length > 0) {
    const more = await sql<(Folder & { path: Uint8Array })[]>`
      select ${columns}
      from directory
      where library_id = ${libraryId} and length(path) > 2000
        and sha256(path) = any(${long.map(digest)}::text[]::bytea[])`
    rows.push(...more)
  }
  return new Map<string, Folder>(
    rows.map(({ path, ...folder }) => [Buffer.from(path).toString('latin1'), folder]),
  )
}

/**
 * Rows for folders met for the first time, and for the way down to the start of a partial scan.
 * Answers the ids of older folders around them that are not among the listings.
 */
export async function makeFolders(
  sql: Sql,
  libraryId: string,
  listings: Listing[],
  folders: Map<string, Folder>,
): Promise<string[]> {
  const wanted = new Set(
    listings.flatMap(l => [...ancestors(l.path), l.path]).filter(path => !folders.has(path)),
  )
  if (wanted.size === 0) return []
  const listed = new Set(listings.map(l => l.path))
  const above = [...wanted].filter(path => !listed.has(path))
  if (above.length > 0) {
    for (const [path, folder] of await foldersAt(sql, libraryId, above)) {
      folders.set(path, { ...folder, digest: null, sidecars: {} })
      wanted.delete(path)
    }
  }
  const rows: { id: string; parent: string | null; path: string }[] = []
  for (const path of [...wanted].sort()) {
    const id = newId()
    const parent = ancestors(path).at(-1)
    rows.push({
      id,
      parent: parent === undefined ? null : folders.get(parent)!.id,
      path: hex(path),
    })
    folders.set(path, { id, digest: null, sidecars: {} })
  }
  await sql`
    insert into directory (id, library_id, parent_id, path)
    select id, ${libraryId}, parent, decode(path, 'hex')
    from jsonb_to_recordset(${sql.json(rows)}) as d(id uuid, parent uuid, path text)
    on conflict do nothing`
  const made = new Set(rows.map(row => row.id))
  return rows
    .filter(({ path }) => !listed.has(parentOf(Buffer.from(path, 'hex').toString('latin1'))))
    .map(row => row.parent)
    .filter(id => id !== null && !made.has(id)) as string[]
}

/** Makes the next scan compare these folders, whatever they list. */
export async function forgetFolders(sql: Sql, ids: string[]) {
  if (ids.length === 0) return
  await sql`update directory set digest = null where id = any(${ids}::uuid[])`
}

/** Ids of the stored folders right below these that they do not list any more. */
export async function goneFolders(sql: Sql, listings: Listing[], folders: Map<string, Folder>) {
  const parents = listings.map(l => folders.get(l.path)?.id).filter(id => id !== undefined)
  const gone: string[] = []
  if (parents.length === 0) return gone
  const listed = new Set(listings.flatMap(l => l.folders.map(name => below(l.path, name))))
  const children = sql<{ id: string; path: Uint8Array }[]>`
    select id, path from directory where parent_id = any(${parents})`.cursor(1_000)
  for await (const rows of children) {
    for (const row of rows)
      if (!listed.has(Buffer.from(row.path).toString('latin1'))) gone.push(row.id)
  }
  return gone
}

/** `a/b/c` → ['', 'a', 'a/b']; none for the root itself. */
function ancestors(path: string): string[] {
  if (path === '') return []
  const parts = path.split('/')
  return parts.map((_, i) => parts.slice(0, i).join('/'))
}

export function hex(latin1: string) {
  return Buffer.from(latin1, 'latin1').toString('hex')
}

function digest(path: string) {
  return `\\x${hash('sha256', Buffer.from(path, 'latin1'), 'hex')}`
}
