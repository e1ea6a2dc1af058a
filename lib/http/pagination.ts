// Pagination: query parameters, the page wrapper, links to neighboring pages (as RFC 8288 header too).
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TProperties } from 'typebox'
import {
  component,
  count,
  list,
  maybe,
  nullable,
  record,
  type Static,
  type TSchema,
  Type,
} from '../base/schema.ts'
import { basePathOf } from './client/address.ts'
import { isFull } from './route.ts'

export const maxPageSize = 500
const defaultPageSize = 50

/** Lenient in requests: 0 means the default, and larger pages are cut to the maximum. */
const lenientInteger = (notes: object) =>
  maybe(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...notes }))

export const pageNumber = () =>
  lenientInteger({
    default: 1,
    description: 'Page number, starting at 1; 0 is page 1.',
  })
export const pageSize = (defaultSize = defaultPageSize, maximum = maxPageSize) =>
  lenientInteger({
    default: defaultSize,
    description: `Items per page, at most ${maximum}. Larger values are reduced to ${maximum}; 0 means the default.`,
  })

/** Query parameters of a paged list. */
export const pageQuery = { page: pageNumber(), pageSize: pageSize() }
/** Query parameters of a list that most clients fetch as a whole. */
export const shortListQuery = { page: pageNumber(), pageSize: pageSize(maxPageSize) }

export type PageQuery = { page?: number | undefined; pageSize?: number | undefined }
export type Paging = { page: number; pageSize: number; offset: number }

/** The requested page, within the limits of the list. */
export function paging(
  query: PageQuery,
  { defaultSize = defaultPageSize, maximum = maxPageSize } = {},
): Paging {
  const page = query.page || 1
  const pageSize = Math.min(query.pageSize || defaultSize, maximum)
  return { page, pageSize, offset: (page - 1) * pageSize }
}

const link = (description: string) => Type.String({ description })
const PageLinks = component('PageLinks', {
  self: link('This page.'),
  first: link('The first page.'),
  prev: nullable(link('The previous page; null on the first one.')),
  next: nullable(link('The next page; null on the last one.')),
  last: link('The last page.'),
})

/** Schema of a page; named after the items' component (`BookPage`). `more`: additional properties. */
export function paged<T extends TSchema, P extends TProperties = Record<never, never>>(
  item: T,
  more: P = {} as P,
) {
  const { component } = item as { component?: string }
  return record(
    {
      ...more,
      data: list(item),
      page: count({ description: 'Page number, starting at 1.' }),
      pageSize: count({ description: 'Items per page.' }),
      total: count({ description: 'Items on all pages.' }),
      totalPages: count({ description: 'Number of pages.' }),
      links: PageLinks,
    },
    { ...(component ? { component: `${component}Page` } : {}), hasLinkHeader: true },
  )
}

type PageItems<T> = { data: T[]; total: number; paging: Paging }
type ListRequest = { request: FastifyRequest; reply: FastifyReply; query: object }

/** A page with links that repeat all accepted parameters; also sets the `Link` header. */
export function pageResponse<T>(
  { request, reply, query }: ListRequest,
  { data, total, paging }: PageItems<T>,
) {
  const { page, pageSize } = paging
  const totalPages = Math.ceil(total / pageSize)
  const last = Math.max(totalPages, 1)
  const path = basePathOf(request.base) + request.url.split('?', 1)[0]!
  const variant = isFull(request.url) ? { full: true } : {}
  const urlOf = (page: number) => `${path}?${parameters({ ...query, ...variant, page, pageSize })}`
  const links: Static<typeof PageLinks> = {
    self: urlOf(page),
    first: urlOf(1),
    prev: page > 1 ? urlOf(Math.min(page - 1, last)) : null,
    next: page < totalPages ? urlOf(page + 1) : null,
    last: urlOf(last),
  }
  const header = (['first', 'prev', 'self', 'next', 'last'] as const)
    .flatMap(rel => (links[rel] === null ? [] : [`<${links[rel]}>; rel="${rel}"`]))
    .join(', ')
  reply.header('link', header)
  return { data, page, pageSize, total, totalPages, links }
}

/** The requested page of a list, as `find` reads it. */
export async function pagedResponse<T>(
  input: ListRequest & { query: PageQuery },
  find: (page: Paging) => Promise<{ data: T[]; total: number }>,
) {
  const page = paging(input.query)
  return pageResponse(input, { ...(await find(page)), paging: page })
}

/** The requested page of a list with `shortListQuery` whose items are all in memory. */
export function shortListResponse<T>(
  { query = {}, ...input }: Omit<ListRequest, 'query'> & { query?: PageQuery | undefined },
  items: readonly T[],
) {
  const page = paging(query, { defaultSize: maxPageSize })
  const data = items.slice(page.offset, page.offset + page.pageSize)
  return pageResponse({ ...input, query }, { data, total: items.length, paging: page })
}

function parameters({ page, pageSize, ...others }: Record<string, unknown>) {
  const pairs = Object.entries({ page, pageSize, ...others }).filter(([, v]) => v !== undefined)
  return new URLSearchParams(pairs.map(([k, v]): [string, string] => [k, String(v)])).toString()
}
