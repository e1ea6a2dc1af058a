// Context of templates and conditions: series in the form of the specification's SeriesContextDto, and books in a
// matching form. Properties without a value are absent.
import type { Sql } from 'postgres'
import type { TOptional, TProperties } from 'typebox'
import { hidesBooks, presentBook, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import type { JsonText } from '../../base/json/json-text.ts'
import {
  component,
  list,
  maybe,
  nullable,
  optional,
  record,
  type Static,
  Type,
  uuid,
} from '../../base/schema.ts'
import { Link } from '../../media/metadata/values.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { bookById } from '../book/book-record.ts'
import { found } from '../owner.ts'
import { BookMetadata, bookMetadata } from './book-metadata-record.ts'
import { type ExternalId, externalIds } from './external-reference.ts'
import { seriesLockFlags } from './field-locks.ts'
import { SeriesMetadata, seriesMetadataByIds } from './series-metadata-record.ts'

const ContextId = component('ExternalIdContextDto', {
  id: Type.String(),
  url: nullable(Type.String()),
  hash: nullable(Type.String({ description: "Changes when the source's metadata changes." })),
})
const ContextIds = Type.Unsafe<Record<string, Static<typeof ContextId>>>({
  type: 'object',
  additionalProperties: ContextId,
  description: 'External ids by source.',
})

type Flag = Exclude<keyof typeof seriesLockFlags, 'alternateTitles'>
type ContextFlag = Flag extends infer F extends string
  ? F extends `${string}Lock`
    ? F
    : `${F}Lock`
  : never
const contextFlag = (flag: string) => (flag.endsWith('Lock') ? flag : `${flag}Lock`) as ContextFlag
const flags = Object.keys(seriesLockFlags).filter(flag => flag !== 'alternateTitles') as Flag[]
const Flags = Object.fromEntries(flags.map(flag => [contextFlag(flag), Type.Boolean()])) as Record<
  ContextFlag,
  ReturnType<typeof Type.Boolean>
>

const {
  id: _id,
  seriesId: _seriesId,
  externalIds: _externalIds,
  locks: _locks,
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  customMetadata: _customMetadata,
  ...contextProperties
} = SeriesMetadata.properties

/** The same properties, all optional. */
function allOptional<P extends TProperties>(properties: P) {
  const entries = Object.entries(properties).map(([name, schema]) => [name, maybe(schema)])
  return Object.fromEntries(entries) as { [K in keyof P]: TOptional<P[K]> }
}

const names = () => list(Type.String())
const ContextMetadata = record({
  ...allOptional({
    ...contextProperties,
    genres: names(),
    tags: names(),
    externalLinks: list(Link),
    externalRatings: list(
      record({
        source: Type.String(),
        rating: Type.Number({ minimum: 0, maximum: 100 }),
        votes: nullable(Type.Integer()),
      }),
    ),
  }),
  ...Flags,
})

const customMetadataSchema = () =>
  optional(
    Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'The keys are unchanged.',
    }),
  )

export const SeriesContext = component('SeriesContextDto', {
  type: Type.Literal('series'),
  seriesId: nullable(uuid()),
  bookCount: Type.Integer({ format: 'int64' }),
  customMetadata: customMetadataSchema(),
  externalIds: maybe(ContextIds),
  metadata: ContextMetadata,
})
export type SeriesContext = Static<typeof SeriesContext>

export const BookContext = component('BookContextDto', {
  type: Type.Literal('book'),
  bookId: uuid(),
  seriesId: uuid(),
  libraryId: uuid(),
  fileFormat: Type.String(),
  pageCount: Type.Integer(),
  fileSize: Type.Integer({ format: 'int64' }),
  customMetadata: customMetadataSchema(),
  externalIds: maybe(ContextIds),
  metadata: record(allOptional({ ...BookMetadata.properties, genres: names(), tags: names() })),
  series: SeriesContext,
})
export type BookContext = Static<typeof BookContext>

/** Contexts by id, without hidden series, in six statements. */
export async function seriesContexts(
  sql: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Map<string, SeriesContext>> {
  const counts = await visibleBookCounts(sql, viewer, ids)
  const metadata = await seriesMetadataByIds(sql, viewer, ids)
  return new Map(
    [...metadata].map(([id, one]) => [id, toContext(one, counts.get(id) ?? 0)] as const),
  )
}

/** Throws NotFound for an unknown or hidden series. */
export async function seriesContext(sql: Queryable, viewer: Viewer, id: string) {
  return found('series', (await seriesContexts(sql, viewer, [id])).get(id))
}

async function visibleBookCounts(sql: Queryable, viewer: Viewer, ids: readonly string[]) {
  const count = hidesBooks(viewer)
    ? sql`(select count(*) from book b
        where b.series_id = s.id and ${presentBook(sql)} and ${visibleBook(sql, viewer)})`
    : sql`s.book_count`
  const rows = await sql<{ id: string; count: number }[]>`
    select s.id, ${count} as count from series s where s.id = any(${ids as string[]}::uuid[])`
  return new Map(rows.map(row => [row.id, Number(row.count)]))
}

function toContext(series: SeriesMetadata, bookCount: number): SeriesContext {
  const { locks, customMetadata, externalIds, ...metadata } = series
  const { id, seriesId: _, createdAt: _created, updatedAt: _updated, ...fields } = metadata
  const lockFlags = Object.fromEntries(flags.map(flag => [contextFlag(flag), locks[flag]]))
  return {
    type: 'series',
    seriesId: id,
    bookCount,
    ...withoutEmpty({
      customMetadata: parsedJson(customMetadata),
      externalIds: idsBySource(externalIds),
    }),
    metadata: {
      ...withoutEmpty({
        ...fields,
        genres: fields.genres.map(genre => genre.name),
        tags: fields.tags.map(tag => tag.name),
        externalLinks: fields.externalLinks.map(({ sourceName: source, url, externalId }) => ({
          source,
          url,
          externalId,
        })),
        externalRatings: fields.externalRatings.map(({ sourceName, rating, voteCount }) => ({
          source: sourceName,
          rating,
          votes: voteCount,
        })),
      }),
      ...(lockFlags as Record<ContextFlag, boolean>),
    },
  }
}

const parsedJson = (json: JsonText | null): object | null => json && JSON.parse(json.text)

/** Without null, empty lists and empty maps of external ids. */
function withoutEmpty<T extends Record<string, unknown>>(values: T) {
  const isEmpty = ([name, value]: [string, unknown]) =>
    value === null ||
    (Array.isArray(value) && value.length === 0) ||
    (name === 'externalIds' && Object.keys(value as object).length === 0)
  const present = Object.entries(values).filter(entry => !isEmpty(entry))
  return Object.fromEntries(present) as { [K in keyof T]?: NonNullable<T[K]> }
}

/** Throws NotFound for an unknown or hidden book. */
export async function bookContext(sql: Sql, viewer: Viewer, id: string): Promise<BookContext> {
  const { seriesId, libraryId, fileFormat, pageCount, fileSize } = await bookById(sql, viewer, id)
  const metadata = await bookMetadata(sql, viewer, id)
  const idsByBook = await externalIds(sql, 'book', [id])
  return {
    type: 'book',
    bookId: id,
    seriesId,
    libraryId,
    fileFormat,
    pageCount,
    fileSize,
    ...withoutEmpty({
      customMetadata: parsedJson(metadata.customMetadata),
      externalIds: idsBySource(idsByBook.get(id) ?? []),
    }),
    metadata: withoutEmpty({
      ...metadata,
      customMetadata: null,
      genres: metadata.genres.map(genre => genre.name),
      tags: metadata.tags.map(tag => tag.name),
    }),
    series: await seriesContext(sql, viewer, seriesId),
  }
}

function idsBySource(ids: readonly ExternalId[]) {
  return Object.fromEntries(
    ids.map(({ source, externalId, externalUrl, metadataHash }) => [
      source,
      { id: externalId, url: externalUrl, hash: metadataHash },
    ]),
  )
}
