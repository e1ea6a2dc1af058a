// Duplicates: books with the same bytes, series that are probably the same. Groups are records only:
// deleting one touches no book, and the next search may find it again.
import {
  bookGroups,
  dropGroup,
  mostMembers,
  type Part,
  requestSearch,
  seriesGroups,
} from '../../catalog/duplicate/duplicate.ts'
import { answer, route } from '../../http/route.ts'
import {
  count,
  Id,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  Type,
  timestamp,
  uuid,
} from '../../schema.ts'

const membersNote = `At most ${mostMembers} of them.`

const BookGroup = record(
  {
    id: uuid(),
    fileHash: Type.String({ description: 'SHA-256 in hex.' }),
    bookIds: list(uuid(), { description: membersNote }),
    duplicateCount: count({ description: 'Members of the group.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { component: 'DuplicateBooks' },
)
const SeriesGroup = record(
  {
    id: uuid(),
    matchType: oneOf(['external_id', 'title'], {
      description: '`external_id` over all libraries, `title` within one.',
    }),
    matchKey: Type.String({ description: '`source:id`, or the normalised title.' }),
    libraryId: nullable(uuid()),
    members: list(
      record({
        id: uuid(),
        title: Type.String(),
        libraryId: uuid(),
        libraryName: Type.String(),
        bookCount: count(),
        updatedAt: timestamp(),
      }),
      { description: membersNote },
    ),
    duplicateCount: count({ description: 'Members of the group.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { component: 'DuplicateSeries' },
)

const most = 500
const page = {
  page: maybe(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 1 })),
  pageSize: maybe(
    Type.Integer({ minimum: 0, maximum: 1_000_000, default: most, description: 'At most 500.' }),
  ),
}
const paging = { page: count(), pageSize: count(), totalPages: count() }

export const duplicates = [
  route({
    method: 'GET',
    path: '/duplicates',
    permission: 'BooksRead',
    summary: 'Groups of books with the same content, biggest first',
    query: record(page),
    responses: {
      200: record({
        duplicates: list(BookGroup),
        totalGroups: count(),
        totalDuplicateBooks: count({ description: 'Members of all groups.' }),
        ...paging,
      }),
    },
    handle: async ({ query, viewer }, { sql }) => {
      const part = partOf(query)
      const { groups, totals } = await bookGroups(sql, viewer, part)
      return {
        duplicates: groups,
        totalGroups: totals.groups,
        totalDuplicateBooks: totals.members,
        ...pagesOf(part, totals.groups),
      }
    },
  }),
  route({
    method: 'POST',
    path: '/duplicates/scan',
    permission: 'BooksWrite',
    summary: 'Look for duplicate books and series',
    description: '409 while a search that was asked for waits or runs.',
    responses: { 200: record({ taskId: uuid(), message: Type.String() }) },
    handle: async (_input, { sql, queue }) => ({
      taskId: await requestSearch(sql, queue),
      message: 'The search for duplicates begins in a moment',
    }),
  }),
  route({
    method: 'GET',
    path: '/duplicates/series',
    permission: 'SeriesRead',
    summary: 'Groups of probably equal series, biggest first',
    query: record({ ...page, matchType: maybe(oneOf(['external_id', 'title'])) }),
    responses: {
      200: record({
        duplicates: list(SeriesGroup),
        totalGroups: count(),
        totalDuplicateSeries: count({ description: 'Members of all groups.' }),
        externalIdGroups: count(),
        titleGroups: count(),
        ...paging,
      }),
    },
    handle: async ({ query, viewer }, { sql }) => {
      const part = partOf(query)
      const { groups, totals } = await seriesGroups(sql, viewer, {
        ...part,
        kinds: query.matchType ? [query.matchType] : ['external_id', 'title'],
      })
      return {
        duplicates: groups,
        totalGroups: totals.groups,
        totalDuplicateSeries: totals.members,
        externalIdGroups: totals.externalIds,
        titleGroups: totals.titles,
        ...pagesOf(part, totals.groups),
      }
    },
  }),
  route({
    method: 'DELETE',
    path: '/duplicates/series/{id}',
    permission: 'SeriesWrite',
    summary: 'Drop a group of series; the series stay',
    params: Id,
    responses: { 204: null },
    handle: async ({ params, viewer }, { sql }) => {
      await dropGroup(sql, viewer, { id: params.id, of: 'series' })
      return answer(204)
    },
  }),
  route({
    method: 'DELETE',
    path: '/duplicates/{id}',
    permission: 'BooksWrite',
    summary: 'Drop a group of books; the books stay',
    params: Id,
    responses: { 204: null },
    handle: async ({ params, viewer }, { sql }) => {
      await dropGroup(sql, viewer, { id: params.id, of: 'books' })
      return answer(204)
    },
  }),
]

function partOf({ page, pageSize }: { page?: number; pageSize?: number }): Part {
  return { page: page || 1, pageSize: Math.min(pageSize || most, most) }
}

function pagesOf(part: Part, groups: number) {
  return { ...part, totalPages: Math.ceil(groups / part.pageSize) }
}
