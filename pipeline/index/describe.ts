// What the catalogue says of a book, from all that its file, the files beside it, its name and its
// folder say. Pure: the same in a thread and for a book whose thread was killed.
import { bookSearchText } from '../../lib/catalog/search/search-text.ts'
import type { Metadata, SourceReading } from '../../lib/metadata/metadata.ts'
import { parseFilename } from '../../lib/name/filename.ts'
import { sortKey } from '../../lib/name/natural.ts'
import { searchKey } from '../../lib/name/normalise.ts'
import { stemOf } from '../../lib/name/stem.ts'
import { type BookStrategy, nameBook } from '../../lib/strategy/book.ts'
import { type NumberStrategy, resolveNumber } from '../../lib/strategy/number.ts'
import type { Placement } from '../../lib/strategy/placement.ts'
import { compileRules } from '../../lib/strategy/preprocess.ts'
import { placeBook } from '../../lib/strategy/series.ts'
import { lockable } from './book-rows.ts'
import { mergeSources } from './merge.ts'
import type { FileToRead, ReadingRules, SeriesPlace, Shown } from './reading.ts'

export type Described = { series: SeriesPlace; columns: string; shown: Shown }

// Fields with columns of their own, by the column's name; the rest of the metadata goes to `more`.
const owned = new Set<string>([...lockable, 'series', 'page_notes'])

const columnOf = (field: string) => field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

// What series.json may say, and the column of the series that it goes to.
const seriesColumns = [
  ['publisher', 'publisher'],
  ['year', 'year'],
  ['summary', 'summary'],
  ['status', 'status'],
  ['ageRating', 'age_rating'],
] as const satisfies [keyof Metadata, string][]

export function describeBook(
  item: FileToRead,
  rules: ReadingRules,
  embedded: SourceReading[],
  sidecars: SourceReading[],
): Described {
  const fileName = item.relative.slice(item.relative.lastIndexOf('/') + 1)
  const stem = stemOf(fileName)
  const ofBook = sidecars.filter(s => s.source !== 'series_json')
  const ofSeries = sidecars.find(s => s.source === 'series_json')?.metadata ?? {}
  const ranked =
    rules.seriesStrategy === 'calibre' ? [...ofBook, ...embedded] : [...embedded, ...ofBook]
  const said = mergeSources(ranked)
  const place = placeBook(rules.seriesStrategy, rules.seriesConfig, item.relative, {
    series: said.metadata.series,
  })
  const { metadata, provenance } = mergeSources([
    ...ranked,
    { source: 'filename', metadata: fromName(stem), warnings: [] },
  ])
  const known = said.metadata.series ?? place.name
  const { title, volume, chapter } = nameBook(
    rules.bookStrategy as BookStrategy,
    rules.bookConfig,
    {
      fileName,
      title: said.metadata.title ?? place.title,
      volume: said.metadata.volume,
      chapter: said.metadata.chapter,
      series: known,
      placedVolume: place.volume,
    },
  )
  const { text: number, sort } = resolveNumber(rules.numberStrategy as NumberStrategy, stem, {
    number: said.metadata.number,
    series: null,
  })
  const series = seriesPlace(place, rules, metadata, ofSeries)
  const columns = {
    title,
    title_sort: metadata.titleSort ?? null,
    sort_key: sortKey(metadata.titleSort ?? title),
    search_key: searchKey(title),
    search_text: bookSearchText({
      title,
      series: series.title,
      authors: metadata.authors ?? [],
      number,
      tags: metadata.tags ?? [],
    }),
    name_key: sortKey(fileName),
    number,
    number_sort: sort,
    volume,
    chapter,
    series_named: said.metadata.series ?? null,
    year: metadata.year ?? null,
    month: metadata.month ?? null,
    day: metadata.day ?? null,
    language: metadata.language ?? null,
    authors: metadata.authors ?? [],
    summary: metadata.summary ?? null,
    publisher: metadata.publisher ?? place.publisher,
    imprint: metadata.imprint ?? null,
    genres: metadata.genres ?? [],
    tags: metadata.tags ?? [],
    isbn: metadata.isbn ?? null,
    age_rating: metadata.ageRating ?? null,
    reading_direction: metadata.readingDirection ?? null,
    more: Object.fromEntries(
      Object.entries(metadata).filter(([field]) => !owned.has(columnOf(field))),
    ),
    // By column, as locks are, so that a locked field keeps its source as well as its value.
    provenance: Object.fromEntries(
      Object.entries(provenance).map(([field, source]) => [columnOf(field), source]),
    ),
  }
  return {
    series,
    columns: storable(columns),
    shown: {
      title,
      series: known,
      number,
      volume: columns.volume,
      chapter: columns.chapter,
      year: columns.year,
      language: columns.language,
      author: metadata.authors?.[0]?.name ?? null,
    },
  }
}

function fromName(stem: string): Metadata {
  const parsed = parseFilename(stem)
  return {
    year: parsed.year ?? undefined,
    month: parsed.month ?? undefined,
    day: parsed.day ?? undefined,
    count: parsed.count ?? undefined,
    language: parsed.language ?? undefined,
  }
}

function seriesPlace(
  place: Placement,
  rules: ReadingRules,
  book: Metadata,
  series: Metadata,
): SeriesPlace {
  const title = compileRules(rules.titleRules)(place.name).trim() || place.name
  return {
    key: place.key,
    name: place.name,
    folder: place.folder,
    oneShot: place.oneShot,
    title,
    sortKey: sortKey(title),
    searchKey: searchKey(title),
    publisher: series.publisher ?? book.publisher ?? place.publisher,
    year: series.year ?? place.year,
    summary: series.summary ?? null,
    status: series.status ?? null,
    language: book.language ?? null,
    ageRating: series.ageRating ?? book.ageRating ?? null,
    readingDirection: book.readingDirection ?? null,
    stated: seriesColumns.filter(([field]) => field in series).map(([, column]) => column),
    externalIds: (series.identifiers ?? []).map(({ scheme, value }) => ({
      source: scheme,
      externalId: value,
      url: series.links?.find(link => link.source === scheme)?.url ?? null,
    })),
  }
}

const unstorable = /\\u0000|\\ud[89a-f]/i

/** JSON that Postgres takes: no NUL, no lone surrogates. They are rare, so the text is looked at first. */
function storable(value: object): string {
  const text = JSON.stringify(value)
  if (!unstorable.test(text)) return text
  return JSON.stringify(value, (_key, v) =>
    typeof v === 'string' ? v.replaceAll('\0', '').toWellFormed() : v,
  )
}
