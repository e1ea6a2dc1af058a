// The caller's want-to-read list: series and books, with a custom order.
import type { Viewer } from '../../accounts/viewer.ts'
import { Invalid } from '../../base/errors.ts'
import {
  body,
  component,
  count,
  list,
  maybe,
  oneOf,
  optional,
  record,
  Type,
  uuid,
} from '../../base/schema.ts'
import { Book, booksByIds } from '../../catalog/book/book-record.ts'
import { Series, seriesByIds } from '../../catalog/series/series-record.ts'
import { paged, pagedResponse, pageQuery } from '../../http/pagination.ts'
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

const WantToReadItem = component('WantToReadItem', {
  ...WantToReadEntry.properties,
  series: optional(Series),
  book: optional(Book),
})
/** Names used by other servers. */
const olderSorts: Record<string, WantToReadSort> = {
  'added_at:desc': 'newest',
  'added_at:asc': 'oldest',
}

export const wantToRead = [
  route('GET /want-to-read', {
    operationId: 'listWantToRead',
    permission: 'ProgressRead',
    summary: 'List the want-to-read list of the caller',
    description:
      'Entries of missing and hidden series and books are left out. To find the series and books themselves, filter by wantToRead.',
    query: record({
      ...pageQuery,
      sort: maybe(
        oneOf([...wantToReadSorts, ...Object.keys(olderSorts)], {
          default: 'newest',
          description: '`custom` is the order chosen by the caller.',
        }),
      ),
      includeItems: maybe(
        Type.Boolean({
          default: false,
          description: 'Includes the series or book of each entry as `series` or `book`.',
        }),
      ),
    }),
    responses: { 200: paged(WantToReadItem) },
    cost: 'list',
    handle: (input, { sql }) =>
      pagedResponse(input, async page => {
        const { query, viewer } = input
        const name = query.sort ?? 'newest'
        const sort = olderSorts[name] ?? (name as WantToReadSort)
        const { entries, total } = await listWanted(sql, viewer, { ...page, sort })
        return { data: query.includeItems ? await withItems(sql, viewer, entries) : entries, total }
      }),
  }),
  route('POST /want-to-read', {
    operationId: 'addWantToRead',
    permission: 'auth',
    summary: 'Add a series or book to the want-to-read list',
    description: '201 for a new entry, which is added at the end; 200 for an existing one.',
    body: body(
      'NewWantToReadEntry',
      { seriesId: optional(uuid()), bookId: optional(uuid()) },
      { description: 'Exactly one of the two ids.' },
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
  route('POST /want-to-read/bulk', {
    operationId: 'addAllWantToRead',
    permission: 'auth',
    summary: 'Add several series and books to the want-to-read list',
    description: skipNote,
    body: body('NewWantToReadEntries', {
      seriesIds: optional(seriesIds),
      bookIds: optional(bookIds),
    }),
    responses: {
      200: component('AddedWantToRead', { added: count(), alreadyPresent: count() }),
    },
    handle: ({ body, viewer }, { sql }) =>
      addAllWanted(sql, viewer, {
        seriesIds: body.seriesIds ?? [],
        bookIds: body.bookIds ?? [],
      }),
  }),
  route('PUT /want-to-read/order', {
    operationId: 'reorderWantToRead',
    permission: 'auth',
    summary: 'Set the order of the want-to-read list',
    description:
      'These entries come first, in this order; the others follow in their present order. Unknown ids are skipped.',
    body: body('WantToReadOrder', {
      entryIds: list(uuid(), { maxItems: maxWanted, description: 'Entry ids.' }),
    }),
    responses: { 204: null },
    handle: ({ body, viewer }, { sql }) => reorderWanted(sql, viewer, body.entryIds),
  }),
  ...(
    [
      ['series', 'series', 'Series', SeriesId],
      ['book', 'books', 'Book', BookId],
    ] as const
  ).map(([kind, plural, name, params]) =>
    route(`DELETE /want-to-read/${plural}/{id}`, {
      operationId: `remove${name}FromWantToRead`,
      permission: 'auth',
      summary: `Remove a ${kind} from the want-to-read list`,
      description: 'Also 204 if it was not listed.',
      params,
      responses: { 204: null },
      handle: ({ params: { id }, viewer }, { sql }) => removeWanted(sql, viewer, { kind, id }),
    }),
  ),
]

/** The entries with their records, in two statements; null for one that was hidden or deleted in the meantime. */
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
