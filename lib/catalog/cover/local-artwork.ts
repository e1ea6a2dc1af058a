// Local artwork of books and series: images in their folders that are displayed as their covers.
import type { Fragment } from 'postgres'
import { pathText } from '../../base/path.ts'
import { stemOf } from '../../media/format/formats.ts'
import { bookArtwork, folderArtwork } from '../../media/name/artwork.ts'
import type { Queryable, Transaction } from '../../store/postgres/db.ts'

/** `version` changes when the file does, or when another file is chosen. */
export type Artwork = { name: string; version: string }

type Sidecars = Record<string, number>

const artworkOf = (name: string | null, sidecars: Sidecars): Artwork | null =>
  name === null ? null : { name, version: `${sidecars[name]} ${name}` }

/** The image beside a book file of this name. */
export function artworkOfBook(
  fileName: Uint8Array,
  { sidecars, ownsFolder }: { sidecars: Sidecars; ownsFolder: boolean },
): Artwork | null {
  const names = Object.keys(sidecars)
  if (names.length === 0) return null
  return artworkOf(bookArtwork(stemOf(pathText(fileName)), { names, ownsFolder }), sidecars)
}

/** The image in the folder of a series. */
export const artworkOfFolder = (sidecars: Sidecars): Artwork | null =>
  artworkOf(folderArtwork(Object.keys(sidecars)), sidecars)

/** A condition on a present `book b` of `library l`: the cover in its folder is its own. In a Calibre library every book has a folder. */
export const ownsFolder = (sql: Queryable): Fragment => sql`(l.series_strategy = 'calibre'
  or not exists (
    select from book o
    where o.directory_id = b.directory_id and o.missing_at is null and o.id <> b.id))`

/** A condition on `series s` and `directory d` of its library: the folder of the series. */
export const isFolderOf = (sql: Queryable): Fragment =>
  sql`length(d.path) <= 2000 and d.path = convert_to(s.folder, 'UTF8')`

type SeriesArtwork = { id: string; artwork: string | null; cover: string | null }

/** Records the artwork of series and its thumbnails; returns the series whose thumbnail changed. */
export async function setArtwork(tx: Transaction, rows: SeriesArtwork[]) {
  if (rows.length === 0) return []
  const stored = await tx<{ id: string; libraryId: string; isChanged: boolean }[]>`
    with old as (
      select s.id, s.artwork_cover as before, r.artwork, decode(r.cover, 'hex') as cover
      from jsonb_to_recordset(${tx.json(rows)}) as r(id uuid, artwork text, cover text)
      join series s on s.id = r.id
      order by s.id
      for no key update of s
    )
    update series s
    set artwork = o.artwork, artwork_cover = o.cover
    from old o
    where s.id = o.id
    returning s.id, s.library_id as "libraryId", o.before is distinct from o.cover as "isChanged"`
  return stored.filter(series => series.isChanged)
}
