// The caller's annotations: bookmarks, highlights and notes at places in books, synchronized between devices.
import type { JSONValue } from 'postgres'
import { recordsReading } from '../../accounts/permission.ts'
import { Invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  body,
  component,
  list,
  maybe,
  nullable,
  oneOf,
  optional,
  patchBody,
  record,
  Type,
  text,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import type { LockedBook } from '../../catalog/row-locks.ts'
import { basePathOf } from '../../http/client/address.ts'
import { paged, pagedResponse, pageQuery, pageSize, paging } from '../../http/pagination.ts'
import { BookId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import { isReflowable } from '../../media/format/formats.ts'
import { checkStorable, trimmedText } from '../../media/metadata/user-input.ts'
import {
  type ClientLocator,
  maxLocatorBytes,
  pageOfLocator,
  ReadiumLocator,
} from '../../protocols/publication/locator.ts'
import { toStoredLocator, withoutApiKeys } from '../../protocols/publication/stored-locator.ts'
import {
  annotationKinds,
  annotationsOf,
  annotationsOfBook,
  type Annotation as StoredAnnotation,
} from '../annotation/annotation.ts'
import {
  createAnnotation,
  deleteAnnotation,
  deletionDays,
  maxAnnotations,
  type StoredPlace,
  updateAnnotation,
} from '../annotation/write.ts'

const writePermission = { all: ['BooksRead'], any: recordsReading } as const
const maxTextLength = 10_000

const content = {
  devicePosition: optional(
    text(2_000, { description: 'The place as the device itself writes it, returned unchanged.' }),
  ),
  text: optional(text(maxTextLength, { description: 'The text of the book at the place.' })),
  note: optional(text(maxTextLength)),
  color: optional(
    Type.String({
      pattern: '^(?:[a-z]{1,20}|#[0-9a-f]{6})$',
      description: 'A name, or `#` with six hexadecimal digits.',
    }),
  ),
}
const kind = (notes: object = {}) => oneOf(annotationKinds, notes)

export const Annotation = component('Annotation', {
  id: uuid(),
  bookId: uuid(),
  kind: kind(),
  locator: nullable(ReadiumLocator),
  devicePosition: nullable(Type.String()),
  text: nullable(Type.String()),
  note: nullable(Type.String()),
  color: nullable(Type.String()),
  createdAt: timestamp(),
  updatedAt: timestamp({
    description: 'When the server stored the latest change; no two of an account are equal.',
  }),
  deletedAt: nullable(timestamp({ description: 'Set for a deleted one, whose content is null.' })),
})
const AnnotationId = record({
  ...BookId.properties,
  annotationId: uuid({ description: 'Annotation id.' }),
})
const time = (description: string) => maybe(timestamp({ description }))

export const annotations = [
  route('GET /books/{id}/annotations', {
    operationId: 'listBookAnnotations',
    permission: 'BooksRead',
    summary: "List the caller's annotations of a book",
    description: 'In the order of the book.',
    params: BookId,
    query: record({ ...pageQuery, kind: maybe(kind({ description: 'Only these.' })) }),
    responses: { 200: paged(Annotation) },
    handle: (input, { sql }) =>
      pagedResponse(input, page =>
        annotationsOfBook(sql, input.viewer, {
          bookId: input.params.id,
          kind: input.query.kind,
          ...page,
        }).then(({ data, total }) => ({ data: data.map(annotationRecord), total })),
      ),
  }),
  route('POST /books/{id}/annotations', {
    operationId: 'createAnnotation',
    permission: writePermission,
    summary: 'Annotate a place in a book',
    description: `200 instead of 201 for an \`id\` that was sent before: nothing is changed, and the stored annotation is returned, even if it is deleted. 409 if the id belongs to an annotation of another book, and beyond ${maxAnnotations} annotations of a book.`,
    params: BookId,
    body: body('NewAnnotation', {
      id: maybe(uuid({ description: 'Chosen by the client, so that it can repeat the request.' })),
      kind: kind(),
      locator: ReadiumLocator,
      ...content,
      createdAt: time('When the client created it; a time in the future counts as now.'),
    }),
    responses: { 201: Annotation, 200: Annotation },
    async handle({ params, body: { id, kind, locator, createdAt, ...values }, viewer }, { sql }) {
      const { annotation, isNew } = await createAnnotation(sql, viewer, {
        ...contentOf(values),
        id: (id ?? newId()).toLowerCase(),
        bookId: params.id.toLowerCase(),
        kind,
        createdAt: createdAt === undefined ? undefined : parseTime('body/createdAt', createdAt),
        place: book => placeOf(locator, book),
      })
      return respond(isNew ? 201 : 200, annotationRecord(annotation))
    },
  }),
  route('PATCH /books/{id}/annotations/{annotationId}', {
    operationId: 'updateAnnotation',
    permission: writePermission,
    summary: 'Change an annotation',
    description: 'Absent fields are unchanged, null clears a field. The last write wins.',
    params: AnnotationId,
    body: patchBody('AnnotationUpdate', { locator: maybe(ReadiumLocator), ...content }, Annotation),
    responses: { 200: Annotation },
    async handle({ params, body: { locator, ...values }, viewer }, { sql }) {
      const annotation = await updateAnnotation(sql, viewer, {
        ...contentOf(values),
        ...addressOf(params),
        place: locator && (book => placeOf(locator, book)),
      })
      return annotationRecord(annotation)
    },
  }),
  route('DELETE /books/{id}/annotations/{annotationId}', {
    operationId: 'deleteAnnotation',
    permission: writePermission,
    summary: 'Delete an annotation',
    description: `Also 204 if it is already deleted. \`GET /annotations?since=\` lists the deletion for ${deletionDays} days.`,
    params: AnnotationId,
    responses: { 204: null },
    handle: ({ params, viewer }, { sql }) => deleteAnnotation(sql, viewer, addressOf(params)),
  }),
  route('GET /annotations', {
    operationId: 'listAnnotations',
    permission: 'BooksRead',
    summary: "List the caller's annotations of all books",
    description:
      'By the time of their latest change, newest first. With `since`, for devices that synchronize: what changed after that time, oldest first and with deletions.',
    query: record({
      limit: pageSize(),
      before: time('Only what changed before this time.'),
      since: time('Only what changed after this time: `updatedAt` of the last known change.'),
    }),
    responses: {
      200: component('AnnotationList', {
        data: list(Annotation),
        next: nullable(Type.String({ description: 'The next page; null on the last one.' })),
      }),
    },
    async handle({ query, viewer, request }, { sql }) {
      const { pageSize: limit } = paging({ pageSize: query.limit })
      const { since, before } = query
      if (since !== undefined && before !== undefined)
        throw new Invalid('query/since and query/before exclude each other')
      const window =
        since === undefined
          ? { before: before === undefined ? before : parseTime('query/before', before) }
          : { since: parseTime('query/since', since) }
      const data = await annotationsOf(sql, viewer, { limit, ...window })
      const last = data.length === limit ? data.at(-1)!.updatedAt.toISOString() : null
      const path = basePathOf(request.base) + request.url.split('?', 1)[0]!
      const name = since === undefined ? 'before' : 'since'
      const next = last === null ? null : `${path}?${name}=${last}&limit=${limit}`
      return { data: data.map(annotationRecord), next }
    },
  }),
]

const annotationRecord = (annotation: StoredAnnotation) => ({
  ...annotation,
  locator: annotation.locator as ClientLocator | null,
})

const addressOf = ({ id, annotationId }: { id: string; annotationId: string }) => ({
  bookId: id.toLowerCase(),
  id: annotationId.toLowerCase(),
})

type Texts = { note?: string | null | undefined } & Record<string, string | null | undefined>

function contentOf<T extends Texts>(values: T): T {
  checkStorable(values)
  return values.note ? { ...values, note: trimmedText(values.note) } : values
}

function parseTime(path: string, value: Date | string): Date {
  const time = new Date(value)
  const year = time.getUTCFullYear()
  if (!(year >= 1970 && year <= 9999)) throw new Invalid(`${path} is not a valid time`)
  return time
}

/** Throws Invalid for a locator that is too long, or refers to a page that the book does not have. */
function placeOf(written: ClientLocator, book: LockedBook): StoredPlace {
  checkStorable(written)
  if (Buffer.byteLength(JSON.stringify(written)) > maxLocatorBytes)
    throw new Invalid('body/locator is too long')
  const locator = toStoredLocator(withoutApiKeys(written)) as JSONValue
  const { totalProgression = null } = written.locations ?? {}
  // The resources of an EPUB are not checked: its file may be missing for a while.
  if (isReflowable(book.format)) return { locator, progression: totalProgression }
  const page = pageOfLocator(book.id, written, book.pageCount)
  return { locator, progression: book.pageCount > 0 ? (page - 1) / book.pageCount : null }
}
