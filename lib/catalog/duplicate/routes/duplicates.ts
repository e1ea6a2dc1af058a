// Duplicate detection: groups of books with equal content and of series that may be the same. Groups are
// records only: deleting one changes no book, and the next search may create it again.

import {
  component,
  count,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  Type,
  timestamp,
  uuid,
} from '../../../base/schema.ts'
import {
  maxPageSize,
  type PageQuery,
  paged,
  pageNumber,
  pageResponse,
  pageSize,
  paging,
} from '../../../http/pagination.ts'
import { DuplicateGroupId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import {
  DuplicateBook,
  deleteDuplicateGroup,
  listBookDuplicates,
  listSeriesDuplicates,
  maxDetails,
  maxMembers,
  requestDuplicateSearch,
  SeriesDuplicateMember,
} from '../duplicate.ts'

const matchTypes = ['external_id', 'title'] as const
const groupFields = {
  duplicateCount: count({ description: 'Number of members.' }),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}

const BookDuplicateGroup = component('BookDuplicateGroup', {
  id: uuid(),
  fileHash: Type.String({ description: 'SHA-256 of the files, hexadecimal.' }),
  bookIds: list(uuid(), { description: `Up to ${maxMembers} members.` }),
  books: list(DuplicateBook, { description: `The first ${maxDetails} members.` }),
  ...groupFields,
})
const SeriesDuplicateGroup = component('SeriesDuplicateGroup', {
  id: uuid(),
  matchType: oneOf(matchTypes, {
    description: '`external_id` across all libraries, `title` within one library.',
  }),
  matchKey: Type.String({ description: '`source:id`, or the normalized title.' }),
  libraryId: nullable(uuid()),
  members: list(SeriesDuplicateMember, { description: `Up to ${maxMembers} members.` }),
  ...groupFields,
})

const BookDuplicates = paged(BookDuplicateGroup, {
  totalDuplicateBooks: count({ description: 'Members of all groups.' }),
})
const SeriesDuplicates = paged(SeriesDuplicateGroup, {
  totalDuplicateSeries: count({ description: 'Members of all groups.' }),
  externalIdGroups: count({ description: 'Number of groups by external id.' }),
  titleGroups: count({ description: 'Number of groups by title.' }),
})
const DuplicateSearch = component('DuplicateSearch', { taskId: uuid(), message: Type.String() })

const pageQuery = { page: pageNumber(), pageSize: pageSize(maxPageSize) }
const pageOf = (query: PageQuery) => paging(query, { defaultSize: maxPageSize })

export const duplicates = [
  route('GET /duplicates', {
    operationId: 'listBookDuplicates',
    permission: 'BooksRead',
    summary: 'List groups of duplicate books',
    description: 'Books with equal content; the largest groups first.',
    query: record(pageQuery),
    responses: { 200: BookDuplicates },
    handle: async ({ query, viewer, request, reply }, { sql }) => {
      const page = pageOf(query)
      const { groups, totals } = await listBookDuplicates(sql, viewer, page)
      const found = { data: groups, total: totals.groups, paging: page }
      return {
        totalDuplicateBooks: totals.members,
        ...pageResponse({ request, reply, query }, found),
      }
    },
  }),
  route('POST /duplicates/scan', {
    operationId: 'startDuplicateSearch',
    permission: 'BooksWrite',
    summary: 'Search for duplicate books and series',
    description: '409 while a requested search is pending or running.',
    responses: { 200: DuplicateSearch },
    handle: async (_input, { sql, queue }) => ({
      taskId: await requestDuplicateSearch(sql, queue),
      message: 'Duplicate search queued',
    }),
  }),
  route('GET /duplicates/series', {
    operationId: 'listSeriesDuplicates',
    permission: 'SeriesRead',
    summary: 'List groups of possibly duplicate series',
    description: 'The largest groups first.',
    query: record({
      ...pageQuery,
      matchType: maybe(
        oneOf(matchTypes, { description: 'Limits the list to groups found by this signal.' }),
      ),
    }),
    responses: { 200: SeriesDuplicates },
    handle: async ({ query, viewer, request, reply }, { sql }) => {
      const page = pageOf(query)
      const { groups, totals } = await listSeriesDuplicates(sql, viewer, {
        ...page,
        kinds: query.matchType ? [query.matchType] : [...matchTypes],
      })
      const found = { data: groups, total: totals.groups, paging: page }
      return {
        totalDuplicateSeries: totals.members,
        externalIdGroups: totals.externalIds,
        titleGroups: totals.titles,
        ...pageResponse({ request, reply, query }, found),
      }
    },
  }),
  route('DELETE /duplicates/series/{id}', {
    operationId: 'deleteSeriesDuplicateGroup',
    permission: 'SeriesWrite',
    summary: 'Delete a group of duplicate series',
    description: 'The series are not changed.',
    params: DuplicateGroupId,
    responses: { 204: null },
    handle: ({ params, viewer }, { sql }) =>
      deleteDuplicateGroup(sql, viewer, { id: params.id, of: 'series' }),
  }),
  route('DELETE /duplicates/{id}', {
    operationId: 'deleteBookDuplicateGroup',
    permission: 'BooksWrite',
    summary: 'Delete a group of duplicate books',
    description: 'The books are not changed.',
    params: DuplicateGroupId,
    responses: { 204: null },
    handle: ({ params, viewer }, { sql }) =>
      deleteDuplicateGroup(sql, viewer, { id: params.id, of: 'books' }),
  }),
]
