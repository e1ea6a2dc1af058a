// Context of templates and conditions: series and books in the form of the specification's
// SeriesContextDto, and its counterpart for books.
import type { Sql } from 'postgres'
import type { Viewer } from '../../auth/viewer.ts'
import { Link } from '../../metadata/values.ts'
import { json, list, nullable, record, type Static, Type, uuid } from '../../schema.ts'
import { bookById } from '../book/book-record.ts'
import { seriesById } from '../series/series-record.ts'
import { BookMetadata, bookMetadata } from './book-metadata-record.ts'
import { type ExternalId, externalIds } from './external-reference.ts'
import { seriesLockFlags } from './field-locks.ts'
import { SeriesMetadata, seriesMetadata } from './series-metadata-record.ts'

const ContextId = record(
  {
    id: Type.String(),
    url: nullable(Type.String()),
    hash: nullable(
      Type.String({ description: 'Changes when the metadata of the source changes.' }),
    ),
  },
  { component: 'ExternalIdContext' },
)
const ContextIds = Type.Unsafe<Record<string, Static<typeof ContextId>>>({
  type: 'object',
  additionalProperties: ContextId,
  description: 'By source.',
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

const names = () => list(Type.String())
const ContextMetadata = record({
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
  ...Flags,
})

export const SeriesContext = record(
  {
    type: Type.Literal('series'),
    seriesId: nullable(uuid()),
    bookCount: Type.Integer({ format: 'int64' }),
    customMetadata: json({ description: 'An object with its keys unchanged, or null.' }),
    externalIds: ContextIds,
    metadata: ContextMetadata,
  },
  { component: 'SeriesContext' },
)
export type SeriesContext = Static<typeof SeriesContext>

export const BookContext = record(
  {
    type: Type.Literal('book'),
    bookId: uuid(),
    seriesId: uuid(),
    libraryId: uuid(),
    fileFormat: Type.String(),
    pageCount: Type.Integer(),
    fileSize: Type.Integer({ format: 'int64' }),
    customMetadata: json({ description: 'An object with its keys unchanged, or null.' }),
    externalIds: ContextIds,
    metadata: record({ ...BookMetadata.properties, genres: names(), tags: names() }),
    series: SeriesContext,
  },
  { component: 'BookContext' },
)
export type BookContext = Static<typeof BookContext>

/** Throws NotFound for a series that does not exist or is hidden. */
export async function seriesContext(sql: Sql, viewer: Viewer, id: string): Promise<SeriesContext> {
  const { bookCount } = await seriesById(sql, viewer, id)
  const { locks, customMetadata, ...metadata } = await seriesMetadata(sql, viewer, id)
  const lockFlags = Object.fromEntries(flags.map(flag => [contextFlag(flag), locks[flag]]))
  return {
    type: 'series',
    seriesId: id,
    bookCount,
    customMetadata,
    externalIds: idsBySource(metadata.externalIds),
    metadata: {
      ...metadata,
      genres: metadata.genres.map(genre => genre.name),
      tags: metadata.tags.map(tag => tag.name),
      externalLinks: metadata.externalLinks.map(({ sourceName: source, url, externalId }) => ({
        source,
        url,
        externalId,
      })),
      externalRatings: metadata.externalRatings.map(({ sourceName, rating, voteCount }) => ({
        source: sourceName,
        rating,
        votes: voteCount,
      })),
      ...(lockFlags as Record<ContextFlag, boolean>),
    },
  }
}

/** Throws NotFound for a book that does not exist or is hidden. */
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
    customMetadata: metadata.customMetadata,
    externalIds: idsBySource(idsByBook.get(id) ?? []),
    metadata: {
      ...metadata,
      genres: metadata.genres.map(genre => genre.name),
      tags: metadata.tags.map(tag => tag.name),
    },
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
