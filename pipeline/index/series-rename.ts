// Renamed series: a series follows its renamed folder or one-shot file, and retains its id and user edits.
import { hash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { joinPath } from '../../lib/base/path.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import { mountHealth, mountKey } from '../../lib/store/mount/mount-health.ts'
import type { Transaction } from '../../lib/store/postgres/db.ts'
import type { Match } from './match.ts'
import type { SeriesDraft } from './reading.ts'

type Library = { id: string; root: Uint8Array }
type OldSeries = {
  id: string
  key: string
  folder: string | null
  oneShot: boolean
  hasOtherBooks: boolean
}
type Rename = { id: string; draft: SeriesDraft }

/**
 * Renames the series of moved and restored books whose folder is gone, and one-shots whose file was renamed.
 * Returns the ids of the renamed series.
 */
export async function renameSeries(
  tx: Transaction,
  library: Library,
  matches: Match[],
): Promise<string[]> {
  const drafts = new Map<string, SeriesDraft>()
  const moved: string[] = []
  // A series follows books that were present until now rather than ones that were missing.
  const found = ['moved', 'restored'].flatMap(outcome => matches.filter(m => m.outcome === outcome))
  for (const { reading, before, bookId } of found) {
    const draft = reading.series
    if (!before || !draft || before.libraryId !== library.id) continue
    if (!drafts.has(before.seriesId)) drafts.set(before.seriesId, draft)
    moved.push(bookId)
  }
  if (drafts.size === 0) return []
  const oldSeries = await tx<OldSeries[]>`
    select id, key, folder, one_shot as "oneShot", exists (
        select from book b
        where b.series_id = s.id and b.missing_at is null and not b.id = any(${moved}))
        as "hasOtherBooks"
    from series s where id = any(${[...drafts.keys()]}) order by id for no key update`
  const renames = new Map<string, Rename>()
  for (const old of oldSeries) {
    const draft = drafts.get(old.id)!
    if (!renames.has(draft.key) && (await isRenamed(library, old, draft)))
      renames.set(draft.key, { id: old.id, draft })
  }
  if (renames.size === 0) return []
  const displaced = matches.flatMap(m => m.displaced?.id ?? [])
  return await rename(tx, library.id, { renames, leavingBooks: [...moved, ...displaced] })
}

async function isRenamed({ root }: Library, old: OldSeries, draft: SeriesDraft): Promise<boolean> {
  if (old.key === draft.key) return false
  if (old.oneShot || draft.oneShot) return old.oneShot && draft.oneShot && !old.hasOtherBooks
  if (draft.folder === null || old.folder === null || old.folder === draft.folder) return false
  return !(await folderExists(root, old.folder))
}

/**
 * The folder name was decoded, as UTF-8 or, if invalid, byte by byte. A folder that cannot be inspected
 * counts as existing.
 */
async function folderExists(root: Uint8Array, folder: string): Promise<boolean> {
  for (const encoding of ['utf8', 'latin1'] as const) {
    const path = joinPath(root, Buffer.from(folder, encoding))
    const isThere = await mountHealth
      .run(mountKey(root), () => lstat(path))
      .then(
        () => true,
        ({ code }) => code !== 'ENOENT' && code !== 'ENOTDIR',
      )
    if (isThere) return true
  }
  return false
}

/**
 * `renames` by their new keys. A series whose new key is held by another series is not renamed. A one-shot
 * whose books have all left gives up its key, and its row gets another one when they are found again.
 */
async function rename(
  tx: Transaction,
  libraryId: string,
  { renames, leavingBooks }: { renames: Map<string, Rename>; leavingBooks: string[] },
): Promise<string[]> {
  const digests = [...renames.keys()].map(key => hash('md5', key))
  const holders = await tx<{ id: string; key: string; isVacated: boolean }[]>`
    select id, key, one_shot and not exists (
        select from book b
        where b.series_id = s.id and b.missing_at is null and not b.id = any(${leavingBooks}))
        as "isVacated"
    from series s
    where library_id = ${libraryId} and md5(key) = any(${digests})`
  // A dropped rename retains its old key, which may block another: repeat until nothing changes.
  for (let previousSize = -1; previousSize !== renames.size; ) {
    previousSize = renames.size
    const leaving = new Set([...renames.values()].map(series => series.id))
    for (const holder of holders)
      if (!holder.isVacated && !leaving.has(holder.id)) renames.delete(holder.key)
  }
  const rows = [...renames.values()].map(({ id, draft }) => ({
    id,
    ...draft,
    nameKey: sortKey(draft.name),
  }))
  if (rows.length === 0) return []
  // Two series may swap their keys: all give them up before any gets a new one.
  const vacated = holders.filter(holder => holder.isVacated && renames.has(holder.key))
  await tx`
    update series set key = 'left:' || id
    where id = any(${[...rows, ...vacated].map(series => series.id)})`
  await tx`
    update series s
    set key = r.key, name = r.name, name_key = r."nameKey", folder = r.folder, updated_at = now(),
      title = case when ${keepsTitle(tx)} then s.title else r.title end,
      sort_key = case when ${keepsTitle(tx)} then s.sort_key else r."sortKey" end,
      search_key = case when ${keepsTitle(tx)} then s.search_key else r."searchKey" end
    from jsonb_to_recordset(${tx.json(rows as never)}) as r(id uuid, key text, name text,
      "nameKey" text, folder text, title text, "sortKey" text, "searchKey" text)
    where s.id = r.id`
  return rows.map(row => row.id)
}

/** A title that a user set or locked, or that the files contain, does not follow the folder. */
function keepsTitle(tx: Transaction) {
  return tx`('title' = any(s.locks) or s.provenance ? 'title')`
}
