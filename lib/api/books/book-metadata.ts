// What is known of a book, and changing it.

import type { Viewer } from '../../auth/viewer.ts'
import { bookById } from '../../catalog/book/book-record.ts'
import { changeBook, holdBook, lockBook, resetBook } from '../../catalog/metadata/book-metadata.ts'
import { BookMetadata, bookMetadata } from '../../catalog/metadata/book-metadata-record.ts'
import { BookLocks, bookFlags, lockWishes, shownLocks } from '../../catalog/metadata/lock-names.ts'
import { changing } from '../../catalog/metadata/metadata-change.ts'
import { bookFields, changesOf, fieldsBody } from '../../catalog/metadata/metadata-fields.ts'
import { checkStorable } from '../../catalog/metadata/metadata-values.ts'
import { mergingCustom } from '../../catalog/metadata/series-metadata.ts'
import { BookContext, bookContext } from '../../catalog/metadata/template-context.ts'
import { analyzeBook } from '../../catalog/scan/analyze.ts'
import { route } from '../../http/route.ts'
import type { Sql } from '../../postgres/db.ts'
import { body, change, Id, nullable, record, Type, timestamp, uuid } from '../../schema.ts'

const Fields = change(fieldsBody(bookFields).properties, BookMetadata)
const of = { params: Id, permission: 'BooksWrite' } as const
const locked = 'Fields that are set are locked: scans leave them as they are.'

type Writing = { viewer: Viewer; id: string; given: object; which: 'some' | 'all' }

async function write(sql: Sql, { viewer, id, given, which }: Writing) {
  checkStorable(given)
  const changes = changesOf(bookFields, given as Record<string, unknown>, which)
  await changing(sql, async tx => {
    const book = await holdBook(tx, viewer, id)
    const custom = book.more.customMetadata ?? null
    await changeBook(tx, book, which === 'some' ? mergingCustom(custom, changes) : changes)
  })
}

export const bookMetadataRoutes = [
  route({
    ...of,
    method: 'PATCH',
    path: '/books/{id}',
    summary: 'Change title and number of a book',
    description: `Absent fields stay; null clears the number. ${locked}`,
    body: body({ title: bookFields.title.schema, number: bookFields.number.schema }),
    responses: {
      200: record({
        id: uuid(),
        title: Type.String(),
        number: nullable(Type.Number()),
        updatedAt: timestamp(),
      }),
    },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await write(sql, { viewer, id, given: body, which: 'some' })
      return await bookById(sql, viewer, id)
    },
  }),
  route({
    ...of,
    method: 'GET',
    path: '/books/{id}/metadata',
    permission: 'BooksRead',
    summary: 'All metadata of a book',
    responses: { 200: BookMetadata },
    handle: ({ params, viewer }, { sql }) => bookMetadata(sql, viewer, params.id),
  }),
  route({
    ...of,
    method: 'PUT',
    path: '/books/{id}/metadata',
    summary: 'Replace the metadata of a book',
    description: `Fields that are absent are cleared; title, titleSort, number, ageRating and readingDirection are kept. A text such as writer takes the place of those people in authors. ${locked}`,
    body: Fields,
    responses: { 200: BookMetadata },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await write(sql, { viewer, id, given: body, which: 'all' })
      return await bookMetadata(sql, viewer, id)
    },
  }),
  route({
    ...of,
    method: 'PATCH',
    path: '/books/{id}/metadata',
    summary: 'Change some metadata of a book',
    description: `Absent fields stay, null clears; customMetadata is merged (RFC 7396). ${locked}`,
    body: Fields,
    responses: { 200: BookMetadata },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await write(sql, { viewer, id, given: body, which: 'some' })
      return await bookMetadata(sql, viewer, id)
    },
  }),
  route({
    ...of,
    method: 'DELETE',
    path: '/books/{id}/metadata',
    summary: 'Reset the metadata of a book to what its file says',
    description:
      'Takes off all locks and drops what users set, links and ids too. Covers stay. The file is read again in the background, which brings its own title, number and other facts back.',
    responses: { 200: BookMetadata },
    async handle({ params: { id }, viewer }, { sql, queue }) {
      const isMissing = await changing(sql, async tx => {
        const book = await holdBook(tx, viewer, id)
        await resetBook(tx, book)
        return book.isMissing
      })
      if (!isMissing) await analyzeBook({ sql, queue, viewer, unanalyzedOnly: false }, id)
      return await bookMetadata(sql, viewer, id)
    },
  }),
  route({
    ...of,
    method: 'GET',
    path: '/books/{id}/metadata/locks',
    permission: 'BooksRead',
    summary: 'Which fields of a book are locked',
    responses: { 200: BookLocks },
    handle: async ({ params, viewer }, { sql }) =>
      (await bookMetadata(sql, viewer, params.id)).locks,
  }),
  route({
    ...of,
    method: 'PUT',
    path: '/books/{id}/metadata/locks',
    summary: 'Lock and unlock fields of a book',
    description: 'Flags that are absent stay as they are.',
    body: lockWishes(bookFlags),
    responses: { 200: BookLocks },
    handle: ({ params, body, viewer }, { sql }) =>
      changing(sql, async tx => {
        const book = await holdBook(tx, viewer, params.id)
        return shownLocks(bookFlags, await lockBook(tx, book, body))
      }),
  }),
  route({
    ...of,
    method: 'GET',
    path: '/books/{id}/context',
    permission: 'BooksRead',
    summary: 'A book as templates and conditions see it',
    responses: { 200: BookContext },
    handle: ({ params, viewer }, { sql }) => bookContext(sql, viewer, params.id),
  }),
]
