// Metadata of series and books: read, replace, update, reset, locks, template context.
import type { TObject } from 'typebox'
import type { Viewer } from '../../../accounts/viewer.ts'
import {
  body,
  component,
  nullable,
  patchBody,
  type TSchema,
  Type,
  timestamp,
  uuid,
} from '../../../base/schema.ts'
import { ofBook, ofSeries } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { checkStorable, input } from '../../../media/metadata/user-input.ts'
import type { Queryable, Sql, Transaction } from '../../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../../store/postgres/retry-on-deadlock.ts'
import { bookById } from '../../book/book-record.ts'
import { analyzeBook } from '../../scan/analyze.ts'
import { seriesById } from '../../series/series-record.ts'
import {
  type BookForUpdate,
  lockBookRow,
  resetBookMetadata,
  setBookLocks,
  updateBookMetadata,
} from '../book-metadata.ts'
import { BookMetadata, bookMetadata } from '../book-metadata-record.ts'
import {
  bookEdits,
  type Changes,
  type EditMode,
  editSchemas,
  parseChanges,
  seriesEdits,
} from '../edits.ts'
import {
  BookLocks,
  bookLockFlags,
  lockFlagsOf,
  locksBody,
  SeriesLocks,
  seriesLockFlags,
} from '../field-locks.ts'
import {
  lockSeriesRow,
  type SeriesForUpdate,
  setSeriesLocks,
  updateSeriesMetadata,
  withMergedCustomMetadata,
} from '../series-metadata.ts'
import { SeriesMetadata, seriesMetadata } from '../series-metadata-record.ts'
import { resetSeriesMetadata } from '../series-reset.ts'
import { BookContext, bookContext, SeriesContext, seriesContext } from '../template-context.ts'

const lockNote = 'Fields in the request are locked against changes by scans.'

/** What the metadata of series and of books differ in. `Row` is the locked row. */
type Kind<Row extends { id: string }> = {
  owner: typeof ofSeries | typeof ofBook
  schemas: { Metadata: TObject; Locks: TSchema; Context: TSchema }
  edits: Parameters<typeof parseChanges>[0]
  flags: Readonly<Record<string, string>>
  /** Fields that remain when absent, and other notes on replacing. */
  replaceNote: string
  resetSummary: string
  resetNote: string
  find: (sql: Queryable, viewer: Viewer, id: string) => Promise<{ locks: object }>
  findContext: (sql: Sql, viewer: Viewer, id: string) => Promise<object>
  lockRow: (tx: Transaction, viewer: Viewer, id: string) => Promise<Row>
  customMetadataOf: (row: Row) => string | null
  update: (tx: Transaction, rows: Row[], changesOf: (row: Row) => Changes) => Promise<void>
  setLocks: (tx: Transaction, rows: Row[], flags: object) => Promise<Map<string, string[]>>
  /** Returns the book to read again, if any. */
  reset: (tx: Transaction, row: Row) => Promise<string | undefined>
}

const series: Kind<SeriesForUpdate> = {
  owner: ofSeries,
  schemas: { Metadata: SeriesMetadata, Locks: SeriesLocks, Context: SeriesContext },
  edits: seriesEdits,
  flags: seriesLockFlags,
  replaceNote: 'title and alternateTitles.',
  resetSummary: "Reset the metadata of a series to its files' metadata",
  resetNote:
    'Covers and sharing tags are not changed. Metadata files beside the books are read again in the background.',
  find: seriesMetadata,
  findContext: seriesContext,
  lockRow: lockSeriesRow,
  customMetadataOf: ({ customMetadata }) => customMetadata,
  update: updateSeriesMetadata,
  setLocks: setSeriesLocks as Kind<SeriesForUpdate>['setLocks'],
  reset: async (tx, row) => (await resetSeriesMetadata(tx, [row]))[0],
}

const book: Kind<BookForUpdate> = {
  owner: ofBook,
  schemas: { Metadata: BookMetadata, Locks: BookLocks, Context: BookContext },
  edits: bookEdits,
  flags: bookLockFlags,
  replaceNote:
    'title, titleSort, number, ageRating and readingDirection. A field such as writer replaces the people who have this role in authors.',
  resetSummary: "Reset the metadata of a book to its file's metadata",
  resetNote:
    'Covers are not changed. The file is analyzed again in the background, which restores its title, number and other fields.',
  find: bookMetadata,
  findContext: bookContext,
  lockRow: lockBookRow,
  customMetadataOf: ({ extraMetadata }) => extraMetadata.customMetadata ?? null,
  update: updateBookMetadata,
  setLocks: setBookLocks as Kind<BookForUpdate>['setLocks'],
  async reset(tx, row) {
    await resetBookMetadata(tx, [row])
    return row.isMissing ? undefined : row.id
  },
}

type MetadataUpdate = { viewer: Viewer; id: string; fields: object; mode: EditMode }

const updaterOf =
  <Row extends { id: string }>({ edits, lockRow, customMetadataOf, update }: Kind<Row>) =>
  async (sql: Sql, { viewer, id, fields, mode }: MetadataUpdate) => {
    checkStorable(fields)
    const changes = parseChanges(edits, fields as Record<string, unknown>, mode)
    await retryOnDeadlock(sql, async tx => {
      const row = await lockRow(tx, viewer, id)
      await update(tx, [row], row =>
        mode === 'patch' ? withMergedCustomMetadata(customMetadataOf(row), changes) : changes,
      )
    })
  }

function metadataRoutes<Row extends { id: string }>(of: Kind<Row>) {
  const { kind, ownerName, path, params, read, write } = of.owner
  const { Metadata, Locks, Context } = of.schemas
  const readAccess = { params, permission: read }
  const writeAccess = { params, permission: write }
  const Update = patchBody(`${ownerName}MetadataUpdate`, editSchemas(of.edits), Metadata)
  const update = updaterOf(of)
  return [
    route(`GET ${path}/metadata`, {
      ...readAccess,
      operationId: `get${ownerName}Metadata`,
      summary: `Get the metadata of a ${kind}`,
      responses: { 200: Metadata },
      handle: ({ params, viewer }, { sql }) => of.find(sql, viewer, params.id),
    }),
    ...(['put', 'patch'] as const).map(mode =>
      route(`${mode === 'put' ? 'PUT' : 'PATCH'} ${path}/metadata`, {
        ...writeAccess,
        operationId: `${mode === 'put' ? 'replace' : 'update'}${ownerName}Metadata`,
        summary:
          mode === 'put' ? `Replace the metadata of a ${kind}` : `Update metadata of a ${kind}`,
        description:
          mode === 'put'
            ? `Absent fields are cleared, except ${of.replaceNote} ${lockNote}`
            : `Absent fields are unchanged, null clears a field; customMetadata is merged (RFC 7396). ${lockNote}`,
        body: Update,
        responses: { 200: Metadata },
        async handle({ params: { id }, body, viewer }, { sql }) {
          await update(sql, { viewer, id, fields: body, mode })
          return await of.find(sql, viewer, id)
        },
      }),
    ),
    route(`DELETE ${path}/metadata`, {
      ...writeAccess,
      operationId: `reset${ownerName}Metadata`,
      summary: of.resetSummary,
      description: `Removes all locks and all values set by users, including external links and ids. ${of.resetNote}`,
      responses: { 200: Metadata },
      async handle({ params: { id }, viewer }, { sql, queue }) {
        const bookId = await retryOnDeadlock(sql, async tx =>
          of.reset(tx, await of.lockRow(tx, viewer, id)),
        )
        if (bookId) await analyzeBook({ sql, queue, viewer, unanalyzedOnly: false }, bookId)
        return await of.find(sql, viewer, id)
      },
    }),
    route(`GET ${path}/metadata/locks`, {
      ...readAccess,
      operationId: `get${ownerName}Locks`,
      summary: `Get the field locks of a ${kind}`,
      responses: { 200: Locks },
      handle: async ({ params, viewer }, { sql }) => (await of.find(sql, viewer, params.id)).locks,
    }),
    route(`PUT ${path}/metadata/locks`, {
      ...writeAccess,
      operationId: `update${ownerName}Locks`,
      summary: `Update the field locks of a ${kind}`,
      description: 'Absent flags are unchanged.',
      body: locksBody(of.flags, `${ownerName}LocksUpdate`),
      responses: { 200: Locks },
      handle: ({ params, body, viewer }, { sql }) =>
        retryOnDeadlock(sql, async tx => {
          const row = await of.lockRow(tx, viewer, params.id)
          const locks = await of.setLocks(tx, [row], body)
          return lockFlagsOf(of.flags, locks.get(row.id)!)
        }),
    }),
    route(`GET ${path}/context`, {
      ...readAccess,
      operationId: `get${ownerName}Context`,
      summary: `Get the template context of a ${kind}`,
      description: 'The fields that templates and conditions can use.',
      responses: { 200: Context },
      handle: ({ params, viewer }, { sql }) => of.findContext(sql, viewer, params.id),
    }),
  ]
}

export const seriesMetadataRoutes = [
  route('PATCH /series/{id}', {
    operationId: 'patchSeries',
    permission: 'SeriesWrite',
    summary: 'Update the title of a series',
    description: 'The title is locked against changes by scans.',
    params: ofSeries.params,
    body: body('SeriesUpdate', { title: input.name(1000) }),
    responses: {
      200: component('UpdatedSeries', { id: uuid(), title: Type.String(), updatedAt: timestamp() }),
    },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await updaterOf(series)(sql, { viewer, id, fields: body, mode: 'patch' })
      return await seriesById(sql, viewer, id)
    },
  }),
  ...metadataRoutes(series),
]

export const bookMetadataRoutes = [
  route('PATCH /books/{id}', {
    operationId: 'patchBook',
    permission: 'BooksWrite',
    summary: 'Update title and number of a book',
    description: `Absent fields are unchanged; null clears the number. ${lockNote}`,
    params: ofBook.params,
    body: body('BookUpdate', {
      title: bookEdits.title.edit.schema,
      number: bookEdits.number.edit.schema,
    }),
    responses: {
      200: component('UpdatedBook', {
        ...{ id: uuid(), title: Type.String(), number: nullable(Type.Number()) },
        updatedAt: timestamp(),
      }),
    },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await updaterOf(book)(sql, { viewer, id, fields: body, mode: 'patch' })
      return await bookById(sql, viewer, id)
    },
  }),
  ...metadataRoutes(book),
]
