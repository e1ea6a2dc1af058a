// Paged lists: the query they take, the wrapper they answer, the links to their neighbours
// (api-specification §2, §8; RFC 8288 for the header).
import type { FastifyReply, FastifyRequest } from 'fastify'
import { count, list, maybe, nullable, record, type Static, type TSchema, Type } from '../schema.ts'
import { basePathOf } from './address.ts'

const most = 500
const usual = 50

/** Properties of a paged list's query. Zero means the default, too many are cut to 500. */
export const pageQuery = {
  page: maybe(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 1,
      description: 'From 1.',
    }),
  ),
  pageSize: maybe(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: usual,
      description: 'Items a page, at most 500.',
    }),
  ),
}

export type PageQuery = { page?: number | undefined; pageSize?: number | undefined }
export type Paging = { page: number; pageSize: number; offset: number }

/** The page asked for, within the limits. */
export function paging(query: PageQuery): Paging {
  const page = query.page || 1
  const pageSize = Math.min(query.pageSize || usual, most)
  return { page, pageSize, offset: (page - 1) * pageSize }
}

const Links = record(
  {
    self: Type.String(),
    first: Type.String(),
    prev: nullable(Type.String()),
    next: nullable(Type.String()),
    last: Type.String(),
  },
  { component: 'Links' },
)

/** The wrapper of a paged list. */
export function paged<T extends TSchema>(item: T) {
  return record({
    data: list(item),
    page: count({ description: 'From 1.' }),
    pageSize: count(),
    total: count({ description: 'Items on all pages.' }),
    totalPages: count(),
    links: Links,
  })
}

type Found<T> = { data: T[]; total: number; paging: Paging }
type Asked = { request: FastifyRequest; reply: FastifyReply; query: object }

/**
 * The wrapper, with links that carry every parameter that was accepted; also sent as `Link` header.
 */
export function pageOf<T>({ request, reply, query }: Asked, { data, total, paging }: Found<T>) {
  const { page, pageSize } = paging
  const totalPages = Math.ceil(total / pageSize)
  const last = Math.max(totalPages, 1)
  const path = basePathOf(request.base) + request.url.split('?', 1)[0]!
  const to = (page: number) => `${path}?${parameters({ ...query, page, pageSize })}`
  const links: Static<typeof Links> = {
    self: to(page),
    first: to(1),
    prev: page > 1 ? to(Math.min(page - 1, last)) : null,
    next: page < totalPages ? to(page + 1) : null,
    last: to(last),
  }
  const header = (['first', 'prev', 'self', 'next', 'last'] as const)
    .flatMap(rel => (links[rel] === null ? [] : [`<${links[rel]}>; rel="${rel}"`]))
    .join(', ')
  reply.header('link', header)
  return { data, page, pageSize, total, totalPages, links }
}

function parameters({ page, pageSize, ...others }: Record<string, unknown>) {
  const pairs = Object.entries({ page, pageSize, ...others }).filter(([, v]) => v !== undefined)
  return new URLSearchParams(pairs.map(([k, v]) => [k, String(v)])).toString()
}
