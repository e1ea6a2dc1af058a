// Owned releases: whether present books cover what a release contains. A book with a volume and no chapter is a
// whole volume. If none of a series' books states either, the number of a book counts as both.

import type { Span } from '../sources/contract.ts'
import type { Queryable } from '../store/postgres/db.ts'
import { isCovered } from './spans.ts'

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
