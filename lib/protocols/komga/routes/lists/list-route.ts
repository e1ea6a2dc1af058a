// List routes of series and books in the Komga-compatible API: by the filters in a query, or by the condition and
// text in a body.
import type { Sql } from 'postgres'
import { optional, record, type Static, type TSchema, Type, text } from '../../../../base/schema.ts'
import type { SeriesId } from '../../../../http/params.ts'
import { type AccessRequirement, type Route, route } from '../../../../http/route.ts'
import type { IdPage } from '../../../../list/sort.ts'
import type { WithServices } from '../../../../store/services.ts'
import type { ParsedCondition } from '../../search/condition.ts'
import type { ListRequest, Search } from '../../search/find.ts'
import type { KeyContext } from '../../search/keys.ts'
import type { SortProperty } from '../../search/sort.ts'
import { type Reader, readerOf } from '../../values.ts'
import {
  type PageRequest,
  pageOf,
  pageQuery,
  pageRequest,
  sortKeys,
  sortQuery,
} from '../http/paging.ts'
import { costOfList, hourlySeed, listResponse } from './list-response.ts'

/** The differences between series and books. */
type Kind<T extends TSchema> = {
  item: T
  permission: Permitted
  find: (db: WithServices, reader: Reader, request: ListRequest) => Promise<IdPage>
  load: (sql: Sql, reader: Reader, ids: readonly string[]) => Promise<Static<T>[]>
  parse: (tree: unknown, context: KeyContext) => ParsedCondition
}

type Permitted = Exclude<AccessRequirement, 'public'>
type Names = { operationId: string; path: string; summary: string }
type Filters = ReturnType<typeof record>
type Sorted = { sort?: string[] }

type FilteredList<F extends Filters> = Names & {
  filters: F
  /** The search for the filters. Throws Invalid. */
  search: (filters: Static<F>, reader: Reader) => Search
  /** A fixed order; without it, clients choose one. */
  sort?: readonly SortProperty[]
}

type MemberList<F extends Filters> = Names & {
  filters: F
  permission: Permitted
  params: typeof SeriesId
  /** Throws Invalid. */
  search: (filters: Static<F>, reader: Reader, id: string) => Search
  /** The default order if the client chooses none. Throws NotFound. */
  orderOf: (db: WithServices, reader: Reader, id: string) => Promise<readonly SortProperty[]>
}

export const contextOf = ({ isAdmin }: Reader): KeyContext => ({ isAdmin, now: new Date() })

/** A condition and a full-text query; an absent body has neither. */
export const searchBody = (component: string) =>
  record(
    {
      condition: optional(Type.Unsafe<unknown>({ type: 'object' })),
      fullTextSearch: optional(text(500)),
    },
    { component },
  )
type SearchBody = ReturnType<typeof searchBody>

/** Creates the routes for one kind of list. */
export function listRoutes<T extends TSchema>({ item, permission, find, load, parse }: Kind<T>) {
  const responses = { 200: pageOf(item) as TSchema }
  type Request = {
    reader: Reader
    request: PageRequest
    search: Search
    sort: readonly SortProperty[]
  }
  const respond = (db: WithServices, { reader, request, search, sort }: Request) => {
    const seed = hourlySeed(reader)
    return listResponse({
      ...{ request, sort, item },
      find: window => find(db, reader, { ...search, ...window, sort, seed }),
      load: ids => load(db.sql, reader, ids),
    })
  }

  return {
    /** A list selected by the query. */
    filtered: <F extends Filters>(list: FilteredList<F>): Route => {
      const { path, filters, search, sort, ...names } = list
      return route(`GET ${path}`, {
        ...{ ...names, permission, responses },
        query: record({ ...pageQuery, ...(sort ? {} : sortQuery), ...filters.properties }),
        cost: ({ query, ...input }) =>
          costOfList(pageRequest(query), () => search(query as Static<F>, readerOf(input))),
        handle({ query, ...input }, deps) {
          const reader = readerOf(input)
          return respond(deps, {
            ...{ reader, request: pageRequest(query) },
            search: search(query as Static<F>, reader),
            sort: sort ?? sortKeys((query as Sorted).sort),
          })
        },
      })
    },

    /** A list selected by the condition and text in the body. */
    searched: ({ path, body, ...names }: Names & { body: SearchBody }): Route =>
      route(`POST ${path}`, {
        ...{ ...names, permission, responses, body, bodyOptional: true },
        query: record({ ...pageQuery, ...sortQuery }),
        cost: ({ query, body, ...input }) =>
          costOfList(pageRequest(query), () => parse(body?.condition, contextOf(readerOf(input)))),
        handle({ query, body, ...input }, deps) {
          const reader = readerOf(input)
          const condition = parse(body?.condition, contextOf(reader))
          return respond(deps, {
            ...{ reader, request: pageRequest(query), sort: sortKeys(query.sort) },
            search: { ...condition, fullText: body?.fullTextSearch },
          })
        },
      }),

    /** The members of a series, a collection or a read list, filtered by the query. */
    members: <F extends Filters>(list: MemberList<F>): Route => {
      const { path, filters, search, orderOf, permission, params, ...names } = list
      return route(`GET ${path}`, {
        ...{ ...names, permission, params, responses },
        query: record({ ...pageQuery, ...sortQuery, ...filters.properties }),
        cost: ({ query }) =>
          costOfList(pageRequest(query), () => ({ condition: null }), { isShort: true }),
        async handle({ params: { id }, query, ...input }, deps) {
          const reader = readerOf(input)
          const order = await orderOf(deps, reader, id)
          const sort = sortKeys(query.sort)
          return await respond(deps, {
            ...{ reader, request: pageRequest(query) },
            search: search(query as Static<F>, reader, id),
            sort: sort.length > 0 ? sort : order,
          })
        },
      })
    },
  }
}
