// Metadata of a book: read, replace, update, reset, locks, template context.
import type { Viewer } from '../../../accounts/viewer.ts'
import {
  body,
  component,
  nullable,
  patchBody,
  Type,
  timestamp,
  uuid,
} from '../../../base/schema.ts'
import { BookId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { checkStorable } from '../../../media/metadata/user-input.ts'
import type { Sql } from '../../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../../store/postgres/retry-on-deadlock.ts'
import {
  lockBookRow,
  resetBookMetadata,
  setBookLocks,
  updateBookMetadata,
} from '../../metadata/book-metadata.ts'
import { BookMetadata, bookMetadata } from '../../metadata/book-metadata-record.ts'
import { bookEdits, type EditMode, editSchemas, parseChanges } from '../../metadata/edits.ts'
import { BookLocks, bookLockFlags, lockFlagsOf, locksBody } from '../../metadata/field-locks.ts'
import { withMergedCustomMetadata } from '../../metadata/series-metadata.ts'
import { BookContext, bookContext } from '../../metadata/template-context.ts'
import { analyzeBook } from '../../scan/analyze.ts'
import { bookById } from '../book-record.ts'

const BookMetadataUpdate = patchBody('BookMetadataUpdate', editSchemas(bookEdits), BookMetadata)
const writeAccess = { params: BookId, permission: 'BooksWrite' } as const
const lockNote = 'Fields in the request are locked against changes by scans.'

type MetadataUpdate = { viewer: Viewer; id: string; fields: object; mode: EditMode }

async function update(sql: Sql, { viewer, id, fields, mode }: MetadataUpdate) {
  checkStorable(fields)
  const changes = parseChanges(bookEdits, fields as Record<string, unknown>, mode)
  await retryOnDeadlock(sql, async tx => {
    const book = await lockBookRow(tx, viewer, id)
    await updateBookMetadata(tx, [book], ({ extraMetadata }) =>
      mode === 'patch'
        ? withMergedCustomMetadata(extraMetadata.customMetadata ?? null, changes)
        : changes,
    )
  })
}

export const bookMetadataRoutes = [
  route('PATCH /books/{id}', {
    ...writeAccess,
    operationId: 'patchBook',
    summary: 'Update title and number of a book',
    description: `Absent fields are unchanged; null clears the number. ${lockNote}`,
    body: body('BookUpdate', {
      title: bookEdits.title.edit.schema,
      number: bookEdits.number.edit.schema,
    }),
    responses: {
      200: component('UpdatedBook', {
        id: uuid(),
        title: Type.String(),
        number: nullable(Type.Number()),
        updatedAt: timestamp(),
      }),
    },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await update(sql, { viewer, id, fields: body, mode: 'patch' })
      return await bookById(sql, viewer, id)
    },
  }),
  route('GET /books/{id}/metadata', {
    ...writeAccess,
    operationId: 'getBookMetadata',
    permission: 'BooksRead',
    summary: 'Get the metadata of a book',
    responses: { 200: BookMetadata },
    handle: ({ params, viewer }, { sql }) => bookMetadata(sql, viewer, params.id),
  }),
  route('PUT /books/{id}/metadata', {
    ...writeAccess,
    operationId: 'replaceBookMetadata',
    summary: 'Replace the metadata of a book',
    description: `Absent fields are cleared, except title, titleSort, number, ageRating and readingDirection. A field such as writer replaces the people who have this role in authors. ${lockNote}`,
    body: BookMetadataUpdate,
    responses: { 200: BookMetadata },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await update(sql, { viewer, id, fields: body, mode: 'put' })
      return await bookMetadata(sql, viewer, id)
    },
  }),
  route('PATCH /books/{id}/metadata', {
    ...writeAccess,
    operationId: 'updateBookMetadata',
    summary: 'Update metadata of a book',
    description: `Absent fields are unchanged, null clears a field; customMetadata is merged (RFC 7396). ${lockNote}`,
    body: BookMetadataUpdate,
    responses: { 200: BookMetadata },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await update(sql, { viewer, id, fields: body, mode: 'patch' })
      return await bookMetadata(sql, viewer, id)
    },
  }),
  route('DELETE /books/{id}/metadata', {
    ...writeAccess,
    operationId: 'resetBookMetadata',
    summary: "Reset the metadata of a book to its file's metadata",
    description:
      'Removes all locks and all values set by users, including external links and ids. Covers are not changed. The file is analyzed again in the background, which restores its title, number and other fields.',
    responses: { 200: BookMetadata },
    async handle({ params: { id }, viewer }, { sql, queue }) {
      const isMissing = await retryOnDeadlock(sql, async tx => {
        const book = await lockBookRow(tx, viewer, id)
        await resetBookMetadata(tx, [book])
        return book.isMissing
      })
      if (!isMissing) await analyzeBook({ sql, queue, viewer, unanalyzedOnly: false }, id)
      return await bookMetadata(sql, viewer, id)
    },
  }),
  route('GET /books/{id}/metadata/locks', {
    ...writeAccess,
    operationId: 'getBookLocks',
    permission: 'BooksRead',
    summary: 'Get the field locks of a book',
    responses: { 200: BookLocks },
    handle: async ({ params, viewer }, { sql }) =>
      (await bookMetadata(sql, viewer, params.id)).locks,
  }),
  route('PUT /books/{id}/metadata/locks', {
    ...writeAccess,
    operationId: 'updateBookLocks',
    summary: 'Update the field locks of a book',
    description: 'Absent flags are unchanged.',
    body: locksBody(bookLockFlags, 'BookLocksUpdate'),
    responses: { 200: BookLocks },
    handle: ({ params, body, viewer }, { sql }) =>
      retryOnDeadlock(sql, async tx => {
        const book = await lockBookRow(tx, viewer, params.id)
        const locks = await setBookLocks(tx, [book], body)
        return lockFlagsOf(bookLockFlags, locks.get(book.id)!)
      }),
  }),
  route('GET /books/{id}/context', {
    ...writeAccess,
    operationId: 'getBookContext',
    permission: 'BooksRead',
    summary: 'Get the template context of a book',
    description: 'The fields that templates and conditions can use.',
    responses: { 200: BookContext },
    handle: ({ params, viewer }, { sql }) => bookContext(sql, viewer, params.id),
  }),
]
