// Names in the metadata of series: people and publishers, with their numbers of series. Genres and tags are in
// lib/catalog/label.
import { component, count, list, maybe, record, Type, text } from '../../base/schema.ts'
import { paged, pageQuery, pageResponse, paging } from '../../http/pagination.ts'
import { route } from '../../http/route.ts'
import type { NameSource } from '../names/name-statement.ts'
import { listNames, listRoles, type NameListRequest } from '../names/names.ts'
import { parseSort } from '../sort.ts'
import { sortQuery } from './list-routes.ts'

const sorts = { name: 'name', series_count: 'series' } as const

/** Query parameters of lists of names. */
export const nameQuery = {
  search: maybe(text(200, { description: 'Part of the name, ignoring case and accents.' })),
  ...sortQuery(Object.keys(sorts)),
}
type NameQuery = {
  search?: string | undefined
  sort?: string | undefined
  order?: string | undefined
}

export const nameRequestOf = ({
  search,
  sort,
  order,
}: NameQuery): Pick<NameListRequest, 'search' | 'sort' | 'direction'> => ({
  search,
  ...parseSort(sorts, sort, order),
})

const NameCount = component(
  'NameCount',
  {
    name: Type.String(),
    seriesCount: count({ description: 'Number of visible series with this name.' }),
  },
  { description: 'A person or a publisher.' },
)

const spelling = 'Names that differ only in case or accents are one, in the most frequent spelling.'

function nameRoute(
  of: Extract<NameSource['of'], 'author' | 'publisher'>,
  {
    operationId,
    summary,
    description,
  }: { operationId: string; summary: string; description: string },
) {
  const role = maybe(text(200, { description: 'Only people with this role.' }))
  return route(`GET /${of}s`, {
    ...{ operationId, summary, description },
    permission: 'SeriesRead',
    cost: 'list',
    query: record({ ...pageQuery, ...nameQuery, ...(of === 'author' ? { role } : {}) }),
    responses: { 200: paged(NameCount) },
    async handle({ query, viewer, request, reply }, db) {
      const page = paging(query)
      const role = (query as { role?: string }).role?.trim().toLowerCase()
      const names = { of, ...(role && { role }), ...nameRequestOf(query), ...page }
      const { entries, total } = await listNames(db, viewer, names)
      const data = entries.map(({ value, count }) => ({ name: value, seriesCount: count }))
      return pageResponse({ request, reply, query }, { data, total, paging: page })
    },
  })
}

export const names = [
  nameRoute('author', {
    operationId: 'listAuthors',
    summary: 'List all people',
    description: `Authors of visible series and of their visible books, of all roles. ${spelling}`,
  }),
  route('GET /authors/roles', {
    operationId: 'listAuthorRoles',
    permission: 'SeriesRead',
    cost: 'list',
    summary: 'List the roles of people',
    description: 'In lower case and in alphabetical order.',
    responses: { 200: component('AuthorRoles', { roles: list(Type.String()) }) },
    handle: async ({ viewer }, db) => ({ roles: await listRoles(db, viewer) }),
  }),
  nameRoute('publisher', {
    operationId: 'listPublishers',
    summary: 'List all publishers',
    description: `Publishers of visible series. ${spelling}`,
  }),
]
