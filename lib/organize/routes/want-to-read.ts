// Want-to-read list of the caller: series and books, with an order of its own.
import type { Viewer } from '../../accounts/viewer.ts'
import { Invalid } from '../../base/errors.ts'
import { body, count, list, maybe, nullable, oneOf, record, Type, uuid } from '../../base/schema.ts'
import { Book, booksByIds } from '../../catalog/book/book-record.ts'
import { Series, seriesByIds } from '../../catalog/series/series-record.ts'
import { paged, pageQuery, pageResponse, paging } from '../../http/pagination.ts'
import { BookId, SeriesId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import {
  addAllWanted,
  addWanted,
  listWanted,
  maxWanted,
  removeWanted,
  reorderWanted,
  WantToReadEntry,
  type WantToReadSort,
  wantToReadSorts,
} from '../personal/want-to-read.ts'
import { bookIds, seriesIds, skipNote } from './bulk-ids.ts'

const WantToReadItem = record(
  {
    ...WantToReadEntry.properties,
    series: maybe(nullable(Series)),
    book: maybe(nullable(Book)),
  },
  { component: 'WantToReadItem' },
)
/** As other servers name them. */
const olderSorts: Record<string, WantToReadSort> = {
  'added_at:desc': 'newest',
  'added_at:asc': 'oldest',
}

export const wantToRead = [
  route({
    operationId: 'listWantToRead',
    method: 'GET',
    path: '/want-to-read',
    permission: 'ProgressRead',
    summary: 'List what the caller wants to read',
    description:
      'Entries of missing and hidden series and books are left out. The filter field wantToRead finds the series and books.',
    query: record({
      ...pageQuery,
      sort: maybe(
        oneOf([...wantToReadSorts, ...Object.keys(olderSorts)], {
          default: 'newest',
          description: '`custom` is the order of the caller.',
        }),
      ),
      includeItems: maybe(
        Type.Boolean({
          default: false,
          description: 'The series or book of each entry as `series` or `book`.',
        }),
      ),
    }),
    responses: { 200: paged(WantToReadItem) },
    cost: 'list',
    async handle({ query, viewer, request, reply }, { sql }) {
      const page = paging(query)
      const name = query.sort ?? 'newest'
      const { entries, total } = await listWanted(sql, viewer, {
        sort: olderSorts[name] ?? (name as WantToReadSort),
        ...{ offset: page.offset, limit: page.pageSize },
      })
      const data = query.includeItems ? await withItems(sql, viewer, entries) : entries
      return pageResponse({ request, reply, query }, { data, total, paging: page })
    },
  }),
  route({
    operationId: 'addWantToRead',
    method: 'POST',
    path: '/want-to-read',
    permission: 'auth',
    summary: 'Add a series or book to what the caller wants to read',
    description: '201 for a new entry, which is the last one; 200 for one that exists.',
    body: body(
      { seriesId: maybe(nullable(uuid())), bookId: maybe(nullable(uuid())) },
      { component: 'NewWantToReadEntry', description: 'One of the two ids.' },
    ),
    responses: { 201: WantToReadEntry, 200: WantToReadEntry },
    async handle({ body: { seriesId, bookId }, viewer }, { sql }) {
      const id = seriesId ?? bookId
      if (!id || (seriesId && bookId)) throw new Invalid('body must have either seriesId or bookId')
      const kind = seriesId ? 'series' : 'book'
      const { entry, isNew } = await addWanted(sql, viewer, { kind, id })
      return isNew ? respond(201, entry) : respond(200, entry)
    },
  }),
  route({
    operationId: 'addAllWantToRead',
    method: 'POST',
    path: '/want-to-read/bulk',
    permission: 'auth',
    summary: 'Add several series and books to what the caller wants to read',
    description: skipNote,
    body: body(
      {
        seriesIds: maybe(nullable(seriesIds)),
        bookIds: maybe(nullable(bookIds)),
      },
      { component: 'NewWantToReadEntries' },
    ),
    responses: {
      200: record({ added: count(), alreadyPresent: count() }, { component: 'AddedWantToRead' }),
    },
    handle: ({ body, viewer }, { sql }) =>
      addAllWanted(sql, viewer, {
        seriesIds: body.seriesIds ?? [],
        bookIds: body.bookIds ?? [],
      }),
  }),
  route({
    operationId: 'reorderWantToRead',
    method: 'PUT',
    path: '/want-to-read/order',
    permission: 'auth',
    summary: 'Set the order of what the caller wants to read',
    description:
      'The entries come first in this order, all others after them as they were. Unknown ids are skipped.',
    body: body(
      { entryIds: list(uuid(), { maxItems: maxWanted, description: 'Ids of entries.' }) },
      { component: 'WantToReadOrder' },
    ),
    responses: { 204: null },
    async handle({ body, viewer }, { sql }) {
      await reorderWanted(sql, viewer, body.entryIds)
      return respond(204)
    },
  }),
  ...(
    [
      ['series', 'Series', SeriesId],
      ['book', 'Book', BookId],
    ] as const
  ).map(([kind, name, params]) =>
    route({
      operationId: `remove${name}FromWantToRead`,
      method: 'DELETE',
      path: kind === 'series' ? '/want-to-read/series/{id}' : '/want-to-read/books/{id}',
      permission: 'auth',
      summary: `Remove a ${kind} from what the caller wants to read`,
      description: '204 also if it was not there.',
      params,
      responses: { 204: null },
      async handle({ params: { id }, viewer }, { sql }) {
        await removeWanted(sql, viewer, { kind, id })
        return respond(204)
      },
    }),
  ),
]

/** The entries with their records, in two statements; null for one that was hidden or deleted meanwhile. */
async function withItems(sql: Queryable, viewer: Viewer, entries: readonly WantToReadEntry[]) {
  const seriesIds = entries.flatMap(({ seriesId }) => seriesId ?? [])
  const bookIds = entries.flatMap(({ bookId }) => bookId ?? [])
  const [allSeries, books] = await Promise.all([
    seriesByIds(sql, viewer, seriesIds),
    booksByIds(sql, viewer, bookIds),
  ])
  const records = new Map([...allSeries, ...books].map(record => [record.id, record]))
  return entries.map(entry => ({
    ...entry,
    series: (records.get(entry.seriesId ?? '') as Series | undefined) ?? null,
    book: (records.get(entry.bookId ?? '') as Book | undefined) ?? null,
  }))
}
