// Rows of a synthetic catalog, as stored by scans of a large library.

import { labelKey } from '../../lib/catalog/label/label.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import { bookSearchText, seriesSearchText } from '../../lib/media/name/search-text.ts'
import { searchKey } from '../../lib/media/name/text.ts'
import type { Random } from '../../test/kit/random.ts'
import type { openCopies } from './copy.ts'
import { pageListOf } from './page-lists.ts'
import type { vocabulary } from './words.ts'

export const tables = {
  label: ['id', 'kind', 'key', 'name', 'spellings'],
  directory: ['id', 'library_id', 'path', 'digest'],
  series: [
    'id',
    'library_id',
    'key',
    'name',
    'name_key',
    'folder',
    'title',
    'sort_key',
    'search_key',
    'summary',
    'publisher',
    'genres',
    'tags',
    'book_genres',
    'book_tags',
    'language',
    'status',
    'age_rating',
    'year',
    'total_volume_count',
    'book_count',
    'page_count',
    'size',
    'created_at',
    'updated_at',
  ],
  series_label: ['label_id', 'series_id', 'is_own'],
  series_search: ['series_id', 'text'],
  book: [
    'id',
    'library_id',
    'series_id',
    'directory_id',
    'name',
    'size',
    'modified_ms',
    'fingerprint',
    'format',
    'page_count',
    'title',
    'sort_key',
    'search_key',
    'name_key',
    'number',
    'number_sort',
    'volume',
    'embedded_series',
    'year',
    'month',
    'day',
    'language',
    'authors',
    'summary',
    'publisher',
    'genres',
    'tags',
    'age_rating',
    'extra_metadata',
    'provenance',
    'error_code',
    'missing_at',
    'created_at',
    'updated_at',
  ],
  book_artifact: ['book_id', 'sha256', 'cover'],
  book_pages: ['book_id', 'pages'],
  book_summary: ['book_id', 'series_id', 'is_present', 'key'],
  book_search: ['book_id', 'series_id', 'is_present', 'sort_key', 'text'],
} satisfies Record<string, string[]>

type Words = ReturnType<typeof vocabulary>
type Copies = Awaited<ReturnType<typeof openCopies>>
export type SeriesMade = { id: string; libraryId: string; books: string[] }
type Making = { random: Random; words: Words; copies: Copies; labels: Map<string, string> }
type Made = {
  id: string
  libraryId: string
  directoryId: string
  title: string
  genres: string[]
  tags: string[]
  language: string
  publisher: string
  born: number
  author: string
}

const day = 86_400_000
const start = Date.UTC(2021, 0, 1)
let clock = start

/** A UUIDv7 whose time moves on by a millisecond. */
function id(random: Random): string {
  const time = (clock++).toString(16).padStart(12, '0')
  const hex = random.hex(20)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`
}

export async function makeLabels({ random, words, copies, labels }: Making) {
  for (const [kind, names] of [
    ['genre', words.genres],
    ['tag', words.tags],
  ] as const) {
    for (const name of names) {
      const label = id(random)
      labels.set(`${kind} ${name}`, label)
      await copies.row('label', [label, kind, labelKey(name), name, [name, name.toUpperCase()]])
    }
  }
}

/** One series with its books; `many` of them. */
export async function makeSeries(
  making: Making,
  libraryId: string,
  many: number,
): Promise<SeriesMade> {
  const { random, words, copies, labels } = making
  const made: Made = {
    id: id(random),
    libraryId,
    directoryId: id(random),
    title: words.title(),
    genres: some(random, words.genres, 1 + random.below(3)),
    tags: some(random, words.tags, random.below(6)),
    language: random.pickByRank(['en', 'ja', 'fr', 'de', 'es', 'it']),
    publisher: random.pickByRank(words.publishers),
    born: start + random.below(1500) * day,
    author: random.pickByRank(words.people),
  }
  const books: string[] = []
  const sum = { present: 0, pages: 0, size: 0 }
  for (let i = 1; i <= many; i++) books.push(await makeBook(making, made, { i, sum }))
  const folder = `${made.publisher}/${made.title}`
  await copies.row('directory', [
    made.directoryId,
    libraryId,
    `\\x${Buffer.from(`${folder} ${made.id}`).toString('hex')}`,
    `\\x${random.hex(64)}`,
  ])
  await copies.row('series', [
    made.id,
    libraryId,
    `d:${folder} ${made.id}`,
    made.title,
    sortKey(made.title),
    folder,
    made.title,
    sortKey(made.title),
    searchKey(made.title),
    random.chance(0.5) ? words.sentence(40) : null,
    random.chance(0.9) ? made.publisher : null,
    made.genres,
    made.tags,
    made.genres,
    made.tags,
    made.language,
    random.pickByRank(['ongoing', 'ended', 'hiatus', 'abandoned']),
    random.chance(0.2) ? random.pick([6, 12, 16, 18]) : null,
    random.chance(0.8) ? 1950 + random.below(75) : null,
    random.chance(0.4) ? many + random.below(3) : null,
    sum.present,
    sum.pages,
    sum.size,
    new Date(made.born),
    new Date(made.born + random.below(400) * day),
  ])
  for (const name of made.genres)
    await copies.row('series_label', [labels.get(`genre ${name}`)!, made.id, true])
  for (const name of made.tags)
    await copies.row('series_label', [labels.get(`tag ${name}`)!, made.id, true])
  await copies.row('series_search', [
    made.id,
    seriesSearchText({
      ...{ title: made.title, otherTitles: [] },
      ...{ values: [...made.genres, ...made.tags], books: [made.author] },
    }),
  ])
  return { id: made.id, libraryId, books }
}

type Sum = { present: number; pages: number; size: number }

async function makeBook(
  { random, words, copies }: Making,
  of: Made,
  { i, sum }: { i: number; sum: Sum },
) {
  const book = id(random)
  const title = bookTitle(random, words, { series: of.title, i })
  const file = `${of.title} ${String(i).padStart(3, '0')}.cbz`
  const pages = 16 + random.below(220)
  const size = pages * (150_000 + random.below(900_000))
  const missing = random.chance(0.005)
  const born = of.born + i * random.below(30) * day
  const author = random.chance(0.8) ? of.author : random.pickByRank(words.people)
  const summary = random.chance(0.4) ? words.sentence(50) : null
  if (!missing) {
    sum.present += 1
    sum.pages += pages
    sum.size += size
  }
  await copies.row('book', [
    book,
    of.libraryId,
    of.id,
    of.directoryId,
    `\\x${Buffer.from(file).toString('hex')}`,
    size,
    born - random.below(2000) * day,
    `\\x${random.hex(32)}`,
    random.pickByRank(['cbz', 'cbr', 'epub', 'pdf']),
    pages,
    title,
    sortKey(title),
    searchKey(title),
    sortKey(file),
    String(i),
    i,
    random.chance(0.5) ? Math.ceil(i / 6) : null,
    of.title,
    random.chance(0.7) ? 1950 + random.below(75) : null,
    random.chance(0.7) ? 1 + random.below(12) : null,
    random.chance(0.4) ? 1 + random.below(28) : null,
    of.language,
    [
      { name: author, role: 'writer', sortName: null },
      { name: of.author, role: 'penciller', sortName: null },
    ] as object,
    summary,
    of.publisher,
    of.genres,
    of.tags,
    random.chance(0.05) ? random.pick([6, 12, 18]) : null,
    { web: `https://example.org/${book}`, storyArc: words.sentence(3), count: 25 },
    { title: 'comicinfo', number: 'comicinfo', authors: 'comicinfo', genres: 'comicinfo' },
    random.chance(0.002) ? 'bad_crc' : null,
    missing ? new Date(born + 900 * day) : null,
    new Date(born),
    new Date(born + random.below(200) * day),
  ])
  if (summary !== null)
    await copies.row('book_summary', [book, of.id, !missing, searchKey(summary)])
  await copies.row('book_artifact', [book, `\\x${random.hex(64)}`, `\\x${random.hex(40)}`])
  await copies.row('book_pages', [book, `\\x${pageListOf(pages)}`])
  await copies.row('book_search', [
    book,
    of.id,
    !missing,
    sortKey(title),
    bookSearchText({
      title,
      series: of.title,
      number: String(i),
      authors: [{ name: author }, { name: of.author }],
      tags: of.tags,
    }),
  ])
  return missing ? '' : book
}

function bookTitle(
  random: Random,
  words: Words,
  { series, i }: { series: string; i: number },
): string {
  const kind = random.next()
  if (kind < 0.35) return `${series} ${i}`
  return kind < 0.5 ? `Volume ${i}` : words.title()
}

function some<T>(random: Random, from: readonly T[], count: number): T[] {
  return [...new Set(Array.from({ length: count }, () => random.pickByRank(from)))]
}
