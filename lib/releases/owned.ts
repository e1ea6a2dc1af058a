// Owned releases: whether present books cover what a release contains. A book with a volume and no chapter is a
// whole volume. If none of a series' books states either, the number of a book counts as both.
import type { Span } from '../sources/contract.ts'
import type { Queryable, Transaction } from '../store/postgres/db.ts'
import { publishReleases } from './change-releases.ts'

/** The spans of a release in the form stored in the ledger; null for none. */
export function normalizedSpans(spans: readonly Span[] | null): Span[] | null {
  const sorted = (spans ?? [])
    .filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end))
    .map(({ start, end }) => ({ start: Math.min(start, end), end: Math.max(start, end) }))
    .sort((a, b) => a.start - b.start || a.end - b.end)
  const joined: Span[] = []
  for (const span of sorted) {
    const last = joined.at(-1)
    // Chapters 1-3 and 4-6 become 1-6.
    const touches =
      last !== undefined &&
      (span.start <= last.end || (Number.isInteger(last.end) && span.start === last.end + 1))
    if (touches) last.end = Math.max(last.end, span.end)
    else joined.push({ ...span })
  }
  return joined.length === 0 ? null : joined
}

/** Sources and users may state any numbers; from 2^53 on, adding 1 changes nothing. */
const maxCovered = 100_000

/** Whether `has` holds for both ends and all whole numbers between them. `size` is how many values it can hold for. */
export function isCovered(spans: readonly Span[], has: (value: number) => boolean, size: number) {
  return spans.every(({ start, end }) => {
    if (!(end - start <= Math.min(size, maxCovered)) || !has(start) || !has(end)) return false
    const first = Math.ceil(start)
    for (let i = 0; i <= end - first; i++) if (!has(first + i)) return false
    return true
  })
}

type Book = {
  seriesId: string
  volume: number | null
  chapter: number | null
  number: number | null
}
type Releasable = { chapters: readonly Span[] | null; volumes: readonly Span[] | null }
type OwnedBooks = {
  wholeVolumes: ReadonlySet<number>
  /** Volumes of the books that have a chapter; null for a book without a volume. */
  volumesOfChapter: ReadonlyMap<number, readonly (number | null)[]>
  /** Chapters of volumes, as entered by a user. */
  chaptersOfVolume: ReadonlyMap<number, Span>
}

/** The present books of series, by series id, in one statement. */
export async function ownedBooks(
  sql: Queryable,
  seriesIds: readonly string[],
): Promise<Map<string, OwnedBooks>> {
  const books = await sql<Book[]>`
    select distinct series_id as "seriesId", volume, chapter, number_sort as number
    from book
    where series_id = any(${seriesIds as string[]}::uuid[]) and missing_at is null`
  const maps = await sql<{ seriesId: string; map: unknown }[]>`
    select series_id as "seriesId", volume_chapter_map as map from series_tracking
    where series_id = any(${seriesIds as string[]}::uuid[]) and volume_chapter_map is not null`
  const mapOf = new Map(maps.map(row => [row.seriesId, row.map]))
  return new Map(
    [...Map.groupBy(books, book => book.seriesId)].map(([id, group]) => [
      id,
      ownedOf(group, mapOf.get(id)),
    ]),
  )
}

/** What the books of one series cover. `volumeChapters` has the chapter span of each volume. */
export function ownedOf(
  books: readonly Omit<Book, 'seriesId'>[],
  volumeChapters: unknown = null,
): OwnedBooks {
  const isClassified = books.some(book => book.volume !== null || book.chapter !== null)
  const wholeVolumes = new Set<number>()
  const volumesOfChapter = new Map<number, (number | null)[]>()
  const addChapter = (chapter: number, volume: number | null) => {
    const volumes = volumesOfChapter.get(chapter)
    if (volumes) volumes.push(volume)
    else volumesOfChapter.set(chapter, [volume])
  }
  for (const { volume, chapter, number } of books) {
    if (chapter !== null) addChapter(chapter, volume)
    else if (volume !== null) wholeVolumes.add(volume)
    else if (!isClassified && number !== null) {
      wholeVolumes.add(number)
      addChapter(number, null)
    }
  }
  const spans = Object.entries((volumeChapters ?? {}) as Record<string, Span>)
  const chaptersOfVolume = new Map(spans.map(([volume, span]) => [Number(volume), span]))
  return { wholeVolumes, volumesOfChapter, chaptersOfVolume }
}

/** Whether the books cover all volumes or all chapters of a release; false if it states neither. */
export function isOwned(owned: OwnedBooks | undefined, { chapters, volumes }: Releasable): boolean {
  if (!owned) return false
  const { wholeVolumes, volumesOfChapter, chaptersOfVolume } = owned
  if (volumes && isCovered(volumes, volume => wholeVolumes.has(volume), wholeVolumes.size))
    return true
  if (!chapters) return false
  const isOfRelease = (volume: number | null) =>
    volume === null || volumes === null || volumes.some(s => s.start <= volume && volume <= s.end)
  const mapped = [...chaptersOfVolume].filter(([volume]) => wholeVolumes.has(volume))
  const hasChapter = (chapter: number) =>
    volumesOfChapter.get(chapter)?.some(isOfRelease) === true ||
    mapped.some(([, { start, end }]) => start <= chapter && chapter <= end)
  const mappedSize = mapped.reduce((size, [, { start, end }]) => size + end - start + 1, 0)
  return isCovered(chapters, hasChapter, volumesOfChapter.size + mappedSize)
}

/**
 * Marks announced releases of tracked series that their books cover. For series without any, and thus for a
 * catalog without tracking, this is a single index lookup.
 */
export async function markAcquired(tx: Transaction, seriesIds: readonly string[]): Promise<void> {
  type Row = { id: string; seriesId: string; chapters: Span[] | null; volumes: Span[] | null }
  const announced = await tx<(Row & { libraryId: string })[]>`
    select r.id, r.series_id as "seriesId", s.library_id as "libraryId", r.chapters, r.volumes
    from release r
    join series_tracking t on t.series_id = r.series_id and t.tracked
    join series s on s.id = r.series_id
    where r.series_id = any(${seriesIds as string[]}::uuid[]) and r.state = 'announced'
      and (r.chapters is not null or r.volumes is not null)
    order by r.id
    for no key update of r`
  if (announced.length === 0) return
  const owned = await ownedBooks(tx, [...new Set(announced.map(release => release.seriesId))])
  const acquired = announced.filter(release => isOwned(owned.get(release.seriesId), release))
  if (acquired.length === 0) return
  const ids = acquired.map(release => release.id)
  await tx`
    with changed as (
      update release set state = 'marked_acquired' where id = any(${ids}::uuid[])
    )
    insert into release_change (release_id, from_state, to_state, reason)
    select id, 'announced', 'marked_acquired', 'scan' from unnest(${ids}::uuid[]) as id`
  await publishReleases(
    tx,
    acquired.map(({ seriesId, libraryId }) => ({ id: seriesId, libraryId })),
  )
}
