// Metadata changes in the Komga-compatible API: absent members are unchanged, null clears, locks are separate.

import { Forbidden, Invalid, NotFound } from '../../../../base/errors.ts'
import { isUuid } from '../../../../base/id.ts'
import { component, list, oneOf, optional, record, Type, text } from '../../../../base/schema.ts'
import { BookId, SeriesId } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import {
  type BookEdit,
  bookLocks,
  editBooks,
  editSeries,
  type SeriesEdit,
  seriesLocks,
} from '../../metadata-edit.ts'
import { directionNames, seriesStatusNames } from '../../values.ts'

const maxItems = 500
const names = () => optional(list(text(300), { maxItems }))
const links = () =>
  optional(list(record({ label: text(200), url: optional(text(2000)) }), { maxItems }))

const lockFlags = (locks: object) =>
  Object.fromEntries(
    Object.keys(locks).map(name => [`${name}Lock`, optional(Type.Boolean())]),
  ) as unknown as Record<string, ReturnType<typeof Type.Boolean>>

const BookMetadataUpdate = Type.Unsafe<Omit<BookEdit, 'locks'> & Record<string, unknown>>(
  component('BookMetadataUpdateDto', {
    title: optional(text(1000)),
    summary: optional(text(20_000)),
    number: optional(text(50)),
    numberSort: optional(Type.Number()),
    releaseDate: optional(text(30)),
    authors: optional(list(record({ name: text(300), role: text(100) }), { maxItems })),
    tags: names(),
    isbn: optional(text(1000)),
    links: links(),
    ...lockFlags(bookLocks),
  }),
)

const SeriesMetadataUpdate = Type.Unsafe<Omit<SeriesEdit, 'locks'> & Record<string, unknown>>(
  component('SeriesMetadataUpdateDto', {
    title: optional(text(1000)),
    titleSort: optional(text(1000)),
    summary: optional(text(20_000)),
    status: optional(oneOf(seriesStatusNames)),
    readingDirection: optional(oneOf(Object.values(directionNames))),
    publisher: optional(text(300)),
    ageRating: optional(Type.Integer({ minimum: 0, maximum: 100 })),
    language: optional(text(50)),
    genres: names(),
    tags: names(),
    totalBookCount: optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    sharingLabels: names(),
    links: links(),
    alternateTitles: optional(list(record({ label: text(200), title: text(1000) }), { maxItems })),
    ...lockFlags(seriesLocks),
  }),
)

function locksIn(body: Record<string, unknown>, locks: object) {
  const present = Object.keys(locks).filter(name => typeof body[`${name}Lock`] === 'boolean')
  return Object.fromEntries(present.map(name => [name, body[`${name}Lock`] as boolean]))
}

const maxBatch = 500

export const metadata = [
  route('PATCH /books/{id}/metadata', {
    operationId: 'updateBookMetadata',
    permission: 'BooksWrite',
    summary: 'Update the metadata of a book',
    description:
      'Changed fields are locked unless the request unlocks them. The sort number follows the number.',
    params: BookId,
    body: BookMetadataUpdate,
    responses: { 204: null },
    handle: ({ params: { id }, body, viewer }, { sql }) =>
      editBooks(sql, viewer, [{ id, edit: { ...body, locks: locksIn(body, bookLocks) } }]),
  }),
  route('PATCH /books/metadata', {
    operationId: 'updateBookMetadataByBatch',
    permission: 'BooksWrite',
    summary: 'Update the metadata of several books',
    description: 'Either all books are changed or none.',
    body: Type.Unsafe<Record<string, Omit<BookEdit, 'locks'> & Record<string, unknown>>>({
      type: 'object',
      propertyNames: { maxLength: 100 },
      additionalProperties: BookMetadataUpdate,
      maxProperties: maxBatch,
    }),
    responses: { 204: null },
    async handle({ body, viewer }, { sql }) {
      if (!Object.keys(body).every(isUuid)) throw new NotFound('Book not found')
      const edits = Object.entries(body).map(([id, update]) => ({
        id: id.toLowerCase(),
        edit: { ...update, locks: locksIn(update, bookLocks) },
      }))
      if (new Set(edits.map(({ id }) => id)).size < edits.length)
        throw new Invalid('body contains a book twice')
      await editBooks(sql, viewer, edits)
    },
  }),
  route('PATCH /series/{id}/metadata', {
    operationId: 'updateSeriesMetadata',
    permission: 'SeriesWrite',
    summary: 'Update the metadata of a series',
    description:
      'Changed fields are locked unless the request unlocks them. Sharing labels are for administrators.',
    params: SeriesId,
    body: SeriesMetadataUpdate,
    responses: { 204: null },
    async handle({ params: { id }, body, viewer, identity }, { sql }) {
      if (body.sharingLabels !== undefined && !identity.permissions.has('SystemAdmin'))
        throw new Forbidden('Sharing labels are assigned by administrators')
      await editSeries(sql, viewer, { id, edit: { ...body, locks: locksIn(body, seriesLocks) } })
    },
  }),
]
