// List endpoints of books and series: paging, short and long items, all libraries or one library.
import type { TObject, TProperties } from 'typebox'
import type { Identity } from '../../accounts/identify.ts'
import type { Viewer } from '../../accounts/viewer.ts'
import {
  maybe,
  oneOf,
  oneSpelledOf,
  record,
  type Static,
  type TSchema,
  Type,
  uuid,
} from '../../base/schema.ts'
import { requireLibrary } from '../../catalog/library/library.ts'
import { type PageQuery, paged, pageQuery, pageResponse, paging } from '../../http/pagination.ts'
import { LibraryId } from '../../http/params.ts'
import {
  type AccessRequirement,
  type AdmittedCost,
  type Input,
  type Route,
  route,
} from '../../http/route.ts'
import type { Sql } from '../../store/postgres/db.ts'
import type { WithServices } from '../../store/services.ts'
import type { IdPage } from '../sort.ts'

/** One form of the items of a list; `load` returns the items of these ids in the same order. */
type ItemForm = {
  schema: TSchema
  load: (sql: Sql, viewer: Viewer, ids: readonly string[]) => Promise<unknown[]>
}

/** What a list consists of, with the short form of an item and the long one of the `/full` routes. */
export type ItemKind = {
  path: 'books' | 'series'
  permission: SignedInRequirement
  short: ItemForm
  full: ItemForm
}

type SignedInRequirement = Exclude<AccessRequirement, 'public'>
type ListInput = Input<SignedInRequirement, undefined, TSchema, undefined>
type QueryOf<Q extends TProperties> = Static<TObject<Q>> & PageQuery
type ParamsOf<P> = P extends TSchema ? Static<P> : undefined

/** Arguments of `find`: the page, and the parts of the request by the schemas of the list. */
type FindRequest<P, Q extends TProperties, B> = WithServices & {
  viewer: Viewer
  identity: Identity
  params: ParamsOf<P>
  query: QueryOf<Q>
  body: ParamsOf<B>
  /** From 1. */
  page: number
  pageSize: number
}

type ListSpec<
  P extends TSchema | undefined,
  Q extends TProperties,
  B extends TSchema | undefined,
> = {
  operationId: string
  method?: 'GET' | 'POST'
  path: string
  summary: string
  description?: string
  params?: P
  /** Query parameters beside those of paging. */
  query?: Q
  body?: B
  bodyOptional?: true
  /** Whether `full: true` in the body selects long items, too. */
  hasFullInBody?: true
  find: (request: FindRequest<P, Q, B>) => Promise<IdPage>
}

/** Routes of one list: its path with short items, and `/full` with long ones (also `?full=true`). */
export function listRoutes<
  P extends TSchema | undefined = undefined,
  const Q extends TProperties = Record<never, never>,
  B extends TSchema | undefined = undefined,
>(kind: ItemKind, spec: ListSpec<P, Q, B>): Route[] {
  const { operationId, path, summary } = spec
  return [
    listRoute(kind, kind.short, spec),
    {
      ...listRoute(kind, kind.full, spec),
      operationId: `${operationId}Full`,
      path: `${path}/full`,
      aliases: [{ path, whenFull: true }],
      summary: `${summary}, with metadata`,
    },
  ]
}

function listRoute<
  P extends TSchema | undefined,
  Q extends TProperties,
  B extends TSchema | undefined,
>(kind: ItemKind, form: ItemForm, spec: ListSpec<P, Q, B>): Route {
  const { permission } = kind
  const { find, query, hasFullInBody, method = 'GET', path, ...common } = spec
  const isFullIn = (body: unknown): boolean =>
    form === kind.full || (body as { full?: boolean } | undefined)?.full === true
  return route(`${method} ${path}`, {
    ...common,
    permission,
    query: record({ ...pageQuery, ...query }),
    responses: {
      200: hasFullInBody && form === kind.short ? eitherPage(kind) : paged(form.schema),
    },
    cost: (({ query, body }: ListInput) => {
      const { pageSize } = paging(query as PageQuery)
      return listCost({ pageSize, isFull: isFullIn(body), body })
    }) as never,
    handle: (async (input: ListInput, { sql, services }: WithServices) => {
      const { viewer, request, reply } = input
      const query = input.query as PageQuery
      const page = paging(query)
      const { ids, total } = await find({
        ...(input as unknown as FindRequest<P, Q, B>),
        ...{ sql, services, page: page.page, pageSize: page.pageSize },
      })
      const { load } = isFullIn(input.body) ? kind.full : kind.short
      const data = await load(sql, viewer, ids)
      return pageResponse({ request, reply, query }, { data, total, paging: page })
    }) as never,
  })
}

// The serializer takes the first that fits; a long item has all members of a short one.
const eitherPage = ({ short, full }: ItemKind) =>
  Type.Union([paged(full.schema), paged(short.schema)], {
    description: 'With metadata if the body has `full`.',
  })

/** A list of all libraries (with the parameter `libraryId`) and the same list of one library. */
type LibraryListSpec<Q extends TProperties> = Omit<
  ListSpec<undefined, Q, undefined>,
  'find' | 'params' | 'body' | 'bodyOptional' | 'method'
> & {
  find: (
    request: FindRequest<undefined, Q, undefined> & { libraryId: string | undefined },
  ) => Promise<IdPage>
}

const libraryFilter = { libraryId: maybe(uuid({ description: 'Only of this library.' })) }

/** Routes of a list below `/books` or `/series`, and below `/libraries/{id}`. */
export function libraryListRoutes<const Q extends TProperties = Record<never, never>>(
  kind: ItemKind,
  { find, ...spec }: LibraryListSpec<Q>,
): Route[] {
  type Request = FindRequest<undefined, Q, undefined>
  const everywhere = {
    ...spec,
    path: `/${kind.path}${spec.path}`,
    query: { ...libraryFilter, ...spec.query },
    find: (request: Request) => {
      const { libraryId } = request.query as { libraryId?: string }
      return find({ ...request, libraryId })
    },
  }
  return [
    ...listRoutes(kind, everywhere as object as ListSpec<undefined, Q, undefined>),
    ...listRoutes(kind, {
      ...spec,
      operationId: `${spec.operationId}OfLibrary`,
      path: `/libraries/{id}/${kind.path}${spec.path}`,
      summary: `${spec.summary} of a library`,
      params: LibraryId,
      find: async request => {
        const libraryId = request.params.id
        await requireLibrary(request.sql, request.viewer, libraryId)
        return await find({ ...request, params: undefined, libraryId })
      },
    }),
  ]
}

const withDirections = (names: readonly string[]) =>
  names.flatMap(name => [name, `${name},asc`, `${name},desc`])
const camelCase = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Query parameters `sort` and `order`. `names` in snake_case. */
export const sortQuery = (names: readonly string[]) => ({
  sort: maybe(
    oneSpelledOf(withDirections(names), withDirections(names.map(camelCase)), {
      examples: [`${names[0]},asc`],
      description: 'Sort field, in snake_case or camelCase, optionally with a direction.',
    }),
  ),
  order: maybe(
    oneOf(['asc', 'desc'], {
      default: 'asc',
      description: 'Sort direction, if `sort` has none.',
    }),
  ),
})

// A page of so many short items, or a condition of so many parts, is made in the time of a normal list.
const maxCheapItems = 250
const maxCheapParts = 10
/** A long item costs as much as so many short ones. */
const fullItemCost = 5

/** Without a page for an aggregate of all that match. */
type ListRequest = { pageSize?: number; isFull?: boolean; body: unknown }

/** Whether the list is expensive for the database or this process (lib/http/limits/list-gate.ts). */
export function listCost({ pageSize = 0, isFull = false, body }: ListRequest): AdmittedCost {
  if (pageSize * (isFull ? fullItemCost : 1) > maxCheapItems) return 'expensive'
  const { condition } = (body ?? {}) as { condition?: unknown }
  return countParts(condition, maxCheapParts + 1) > maxCheapParts ? 'expensive' : 'list'
}

/** Objects and values of lists in a condition, counted up to `limit`. */
function countParts(node: unknown, limit: number): number {
  if (typeof node !== 'object' || node === null) return 1
  let count = Array.isArray(node) ? 0 : 1
  for (const inner of Object.values(node)) {
    if (count >= limit) break
    if (Array.isArray(node) || (typeof inner === 'object' && inner !== null))
      count += countParts(inner, limit - count)
  }
  return count
}
