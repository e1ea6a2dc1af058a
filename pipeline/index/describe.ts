// Catalog data of a book, from the metadata of its file, sidecars, file name and folder. Pure: the same in a
// thread and for a book whose thread was terminated.
import { stemOf } from '../../lib/media/format/formats.ts'
import { type Field, snakeCase } from '../../lib/media/metadata/field.ts'
import {
  calibreSources,
  type Metadata,
  type MetadataSource,
  metadataSources,
  type SourceReading,
} from '../../lib/media/metadata/metadata.ts'
import {
  bookMajorityFields,
  scannedSeriesFields,
  seriesJsonFields,
} from '../../lib/media/metadata/series-fields.ts'
import { parseFilename } from '../../lib/media/name/filename.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import { bookSearchText } from '../../lib/media/name/search-text.ts'
import { searchKey } from '../../lib/media/name/text.ts'
import { type BookStrategy, nameBook, placedNumber } from '../../lib/media/strategy/book.ts'
import { type NumberStrategy, resolveNumber } from '../../lib/media/strategy/number.ts'
import type { Placement } from '../../lib/media/strategy/placement.ts'
import { placeBook } from '../../lib/media/strategy/series.ts'
import { compileRules } from '../../lib/media/strategy/title-rules.ts'
import { extraMembers, metadataColumns } from './book-columns.ts'
import type { FileToRead, ReadOptions, RecordFields, SeriesDraft } from './reading.ts'

type Description = { series: SeriesDraft; columns: string; recordFields: RecordFields }

export function describeBook(
  item: FileToRead,
  options: ReadOptions,
  embedded: SourceReading[],
  sidecars: SourceReading[],
): Description {
  const fileName = item.relative.slice(item.relative.lastIndexOf('/') + 1)
  const stem = stemOf(fileName)
  const seriesFile = sidecars.find(s => s.source === 'series_json')?.metadata ?? {}
  const order = options.seriesStrategy === 'calibre' ? calibreSources : metadataSources
  const sources = [...embedded, ...sidecars]
    .filter(({ source }) => source !== 'series_json')
    .sort((a, b) => order.indexOf(a.source) - order.indexOf(b.source))
  const { metadata: stated } = mergeSources(sources)
  const placement = placeBook(options.seriesStrategy, options.seriesConfig, item.relative, {
    series: stated.series,
  })
  const merged = mergeSources([
    ...sources,
    { source: 'filename', metadata: filenameMetadata(stem), warnings: [] },
  ])
  const seriesName = stated.series ?? placement.name
  const names = nameBook(options.bookStrategy as BookStrategy, options.bookConfig, {
    fileName,
    title: stated.title ?? placement.title,
    volume: stated.volume,
    chapter: stated.chapter,
    series: seriesName,
    placedVolume: placement.volume,
  })
  const number = resolveNumber(options.numberStrategy as NumberStrategy, stem, {
    number: stated.number,
    series: null,
  })
  const series = draftSeries(placement, options, {
    book: merged.metadata,
    series: nameFolder(seriesFile, placement, item.relative),
  })
  const { metadata } = merged
  const columns = {
    ...bookColumns(merged, placement),
    title: names.title,
    sort_key: sortKey(metadata.titleSort ?? names.title),
    search_key: searchKey(names.title),
    search_text: bookSearchText({
      title: names.title,
      // Probably the title after the scan: renameSeries follows the majority of the books.
      series: series.statedColumns.includes('title')
        ? series.title
        : (stated.series ?? series.title),
      authors: metadata.authors ?? [],
      number: number.text,
      tags: metadata.tags ?? [],
    }),
    name_key: sortKey(fileName),
    number: number.text,
    number_sort: number.sort,
    volume: names.volume ?? placedNumber(placement.volume),
    chapter: names.chapter,
    embedded_series: stated.series ?? null,
  }
  return {
    series,
    columns: encodeStorable(columns),
    recordFields: {
      title: columns.title,
      series: seriesName,
      number: columns.number,
      volume: columns.volume,
      chapter: columns.chapter,
      year: metadata.year ?? null,
      language: metadata.language ?? null,
      author: metadata.authors?.[0]?.name ?? null,
    },
  }
}

/**
 * Columns copied from the metadata. Empty ones, which are most, are omitted; the statement reads them as
 * null.
 */
function bookColumns({ metadata, provenance }: MergedMetadata, placement: Placement) {
  const values: Record<string, unknown> = {
    ...metadata,
    publisher: metadata.publisher ?? placement.publisher,
  }
  const extra = extraMembers.filter(member => values[member] !== undefined)
  return {
    ...Object.fromEntries(
      metadataColumns
        .map(({ column, member }) => [column, values[member]] as const)
        .filter(([, value]) => hasValue(value)),
    ),
    extra_metadata: Object.fromEntries(extra.map(member => [member, values[member]])),
    // By column, like locks, so that a locked field retains its source together with its value.
    provenance: Object.fromEntries(
      Object.entries(provenance).map(([member, source]) => [snakeCase(member), source]),
    ),
  }
}

const hasValue = (value: unknown) =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

function filenameMetadata(stem: string): Metadata {
  const parsed = parseFilename(stem)
  return {
    year: parsed.year ?? undefined,
    month: parsed.month ?? undefined,
    day: parsed.day ?? undefined,
    count: parsed.count ?? undefined,
    language: parsed.language ?? undefined,
  }
}

/** A series.json names its series only if it is in the series' own folder. */
function nameFolder({ series, ...metadata }: Metadata, { folder }: Placement, path: string) {
  const isOfFolder = folder !== null && path.lastIndexOf('/') === folder.length
  return isOfFolder && series !== undefined ? { ...metadata, title: series } : metadata
}

function draftSeries(
  placement: Placement,
  options: ReadOptions,
  { book, series }: { book: Metadata; series: Metadata },
): SeriesDraft {
  const { name } = placement
  const title = series.title ?? (compileRules(options.titleRules)(name).trim() || name)
  return {
    key: placement.key,
    name,
    folder: placement.folder,
    oneShot: placement.isOneShot,
    title,
    sortKey: sortKey(title),
    searchKey: searchKey(title),
    columns: seriesColumns(placement, book, series),
    statedColumns: seriesJsonFields
      .filter(({ member }) => member in series)
      .map(({ column }) => column),
    externalIds: (series.identifiers ?? []).map(({ scheme, value }) => ({
      source: scheme,
      externalId: value,
      url: series.links?.find(link => link.source === scheme)?.url ?? null,
    })),
  }
}

/** Initial values: from series.json, else from the book, else from the folder. */
function seriesColumns(placement: Placement, book: Metadata, series: Metadata) {
  const defaults: Record<string, unknown> = {
    publisher: placement.publisher,
    year: placement.year,
    status: 'unknown',
  }
  const valueIn = (metadata: Metadata, fields: readonly Field[], field: Field) =>
    fields.includes(field) ? metadata[field.member as keyof Metadata] : undefined
  return Object.fromEntries(
    scannedSeriesFields.map(field => [
      field.column,
      valueIn(series, seriesJsonFields, field) ??
        valueIn(book, bookMajorityFields, field) ??
        defaults[field.column] ??
        null,
    ]),
  )
}

const unstorable = /\\u0000|\\ud[89a-f]/i

/** JSON that Postgres accepts: no NUL, no lone surrogates. These are rare, so the text is checked first. */
function encodeStorable(value: object): string {
  const text = JSON.stringify(value)
  if (!unstorable.test(text)) return text
  return JSON.stringify(value, (_key, v) =>
    typeof v === 'string' ? v.replaceAll('\0', '').toWellFormed() : v,
  )
}

/** `provenance` names the source of each field. */
type MergedMetadata = { metadata: Metadata; provenance: Record<string, MetadataSource> }

/** `sources` in descending priority. Lists are not mixed: the first source with one wins. */
function mergeSources(sources: SourceReading[]): MergedMetadata {
  const metadata: Record<string, unknown> = {}
  const provenance: Record<string, MetadataSource> = {}
  for (const { source, metadata: stated } of sources) {
    for (const [field, value] of Object.entries(stated)) {
      if (field in metadata || isEmpty(value)) continue
      metadata[field] = value
      provenance[field] = source
    }
  }
  return { metadata: metadata as Metadata, provenance }
}

function isEmpty(value: unknown) {
  return (
    value === null ||
    value === undefined ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  )
}
