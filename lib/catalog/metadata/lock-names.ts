// Locks as clients name them, and as rows keep them: by column, which is what the pipeline asks.
import { maybe, record, type Static, Type } from '../../schema.ts'

/**
 * Flag on the wire → name in `locks`. Flags with a dot stand for a part of a column (`authors.writer`):
 * the column is locked while any of its parts is, because the people of a book are one list.
 */
type Flags = Readonly<Record<string, string>>

export const seriesFlags = {
  title: 'title',
  titleSort: 'title_sort',
  summary: 'summary',
  publisher: 'publisher',
  imprint: 'imprint',
  status: 'status',
  ageRating: 'age_rating',
  language: 'language',
  readingDirection: 'reading_direction',
  year: 'year',
  totalVolumeCount: 'total_volume_count',
  totalChapterCount: 'total_chapter_count',
  genres: 'genres',
  tags: 'tags',
  customMetadata: 'custom_metadata',
  cover: 'cover',
  authorsJsonLock: 'authors',
  alternateTitles: 'alternate_titles',
} as const satisfies Flags

export const bookFlags = {
  titleLock: 'title',
  titleSortLock: 'title_sort',
  numberLock: 'number',
  summaryLock: 'summary',
  writerLock: 'authors.writer',
  pencillerLock: 'authors.penciller',
  inkerLock: 'authors.inker',
  coloristLock: 'authors.colorist',
  lettererLock: 'authors.letterer',
  coverArtistLock: 'authors.cover_artist',
  editorLock: 'authors.editor',
  translatorLock: 'authors.translator',
  authorsJsonLock: 'authors.all',
  publisherLock: 'publisher',
  imprintLock: 'imprint',
  genreLock: 'genres',
  tagsLock: 'tags',
  languageIsoLock: 'language',
  formatDetailLock: 'format',
  blackAndWhiteLock: 'black_and_white',
  mangaLock: 'manga',
  yearLock: 'year',
  monthLock: 'month',
  dayLock: 'day',
  volumeLock: 'volume',
  chapterLock: 'chapter',
  countLock: 'count',
  isbnsLock: 'isbn',
  ageRatingLock: 'age_rating',
  readingDirectionLock: 'reading_direction',
  bookTypeLock: 'book_type',
  subtitleLock: 'subtitle',
  editionLock: 'edition',
  originalTitleLock: 'original_title',
  originalYearLock: 'original_year',
  seriesPositionLock: 'series_position',
  seriesTotalLock: 'series_total',
  subjectsLock: 'subjects',
  awardsLock: 'awards',
  customMetadataLock: 'custom_metadata',
  coverLock: 'cover',
} as const satisfies Flags

const flagsOf = <F extends Flags>(flags: F) =>
  Object.fromEntries(Object.keys(flags).map(flag => [flag, Type.Boolean()])) as {
    [K in keyof F]: ReturnType<typeof Type.Boolean>
  }

const note = 'True: scans leave the field as it is.'
export const SeriesLocks = record(flagsOf(seriesFlags), {
  component: 'SeriesLocks',
  description: note,
})
export const BookLocks = record(flagsOf(bookFlags), {
  component: 'BookLocks',
  description: `${note} People are one list: while any of their flags is set, scans leave all of them.`,
})
export type SeriesLocks = Static<typeof SeriesLocks>
export type BookLocks = Static<typeof BookLocks>

/** The body that sets some locks; flags are taken with and without `Lock`. */
export function lockWishes<F extends Flags>(flags: F) {
  const wishes = Object.keys(flags).map(flag => {
    const other = flag.endsWith('Lock') ? flag.slice(0, -4) : `${flag}Lock`
    return [flag, maybe(Type.Boolean({ aliases: [other] }))]
  })
  return Type.Unsafe<{ [K in keyof F]?: boolean }>(
    Type.Object(Object.fromEntries(wishes), { additionalProperties: false }),
  )
}

/** Every flag of a row. */
export function shownLocks<F extends Flags>(flags: F, locks: readonly string[]) {
  const shown = Object.entries(flags).map(([flag, name]) => [flag, isHeld(locks, name)])
  return Object.fromEntries(shown) as { [K in keyof F]: boolean }
}

// A whole column that was locked without its parts shows as the flag for all of it.
function isHeld(locks: readonly string[], name: string): boolean {
  if (locks.includes(name)) return true
  const column = columnOf(name)
  return (
    name === `${column}.all` &&
    locks.includes(column) &&
    !locks.some(lock => lock.startsWith(`${column}.`))
  )
}

const columnOf = (name: string) => name.split('.', 1)[0]!

/** The locks of a row after some names were set (true) or taken off (false); sorted. */
export function withLocks(locks: readonly string[], wishes: Iterable<readonly [string, boolean]>) {
  const names = new Set(locks)
  const parted = new Set<string>()
  for (const [name, wanted] of wishes) {
    if (wanted) names.add(name)
    else names.delete(name)
    if (name.includes('.')) parted.add(columnOf(name))
  }
  for (const column of parted) {
    names.delete(column)
    if ([...names].some(name => name.startsWith(`${column}.`))) names.add(column)
  }
  return [...names].sort()
}

/** Wishes by flag as wishes by name. */
export function wishesOf(
  flags: Flags,
  wishes: Readonly<Record<string, boolean | undefined>>,
): (readonly [string, boolean])[] {
  return Object.entries(wishes).flatMap(([flag, wanted]) =>
    wanted === undefined ? [] : [[flags[flag]!, wanted] as const],
  )
}
