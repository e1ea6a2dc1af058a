// Lists of books and of series: each is said once, and served for all libraries and for one.
import type { TProperties } from 'typebox'
import type { Permission } from '../../auth/permission.ts'
import type { Viewer } from '../../auth/viewer.ts'
import { requireLibrary } from '../../catalog/library/library.ts'
import type { Deps } from '../../http/deps.ts'
import { type PageQuery, paged, pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { type Input, type Route, route } from '../../http/route.ts'
import type { Sql } from '../../postgres/db.ts'
import { Id, list, maybe, record, type TSchema, Type, text, uuid } from '../../schema.ts'

export type Listed = { ids: string[]; total: number }
/** What lists may be asked, by the names of their queries; each takes its own of them. */
export type ListQuery = PageQuery & {
  limit?: number | undefined
  libraryId?: string | undefined
  seriesId?: string | undefined
  sort?: string | undefined
  order?: string | undefined
  genres?: string | undefined
  tags?: string | undefined
  full?: boolean | undefined
}
export type Asked = ListQuery & {
  sql: Sql
  viewer: Viewer
  /** From 1. */
  page: number
  pageSize: number
}

export type List = {
  /** Below `/books` or `/series`. */
  path: string
  summary: string
  description?: string
  takes?: TProperties
  /** A bare array of this many items, unless the client asks for a page. */
  bare?: number
  find: (asked: Asked) => Promise<Listed>
}

/** What the items of lists are, and how ids become such items in the same order. */
export type Kind<T = unknown> = {
  of: 'books' | 'series'
  permission: Permission
  short: TSchema
  full: TSchema
  byIds: (asked: Pick<Asked, 'sql' | 'viewer' | 'full'>, ids: string[]) => Promise<T[]>
}

const most = 500

export const full = {
  full: maybe(Type.Boolean({ default: false, description: 'The long form, with metadata.' })),
}
export const sorting = (names: readonly string[]) => ({
  sort: maybe(
    text(100, {
      description: `\`field\` or \`field,direction\`. Fields: ${names.join(', ')}. Anything else is the list's own order.`,
    }),
  ),
  order: maybe(text(10, { description: '`asc` or `desc`, where `sort` names no direction.' })),
})
const limit = (usual: number) => ({
  limit: maybe(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: usual,
      description: `Items of the array, at most ${most}. Without effect on pages.`,
    }),
  ),
})
const ofLibrary = { libraryId: maybe(uuid({ description: 'Only of this library.' })) }

type Page<T> = ReturnType<typeof pageOf<T>>
type Forms = Pick<Kind, 'short' | 'full'>

/** A paged list of short or long forms. The long one goes first: it has all that the short one has. */
export const eitherPaged = <T>({ short, full }: Forms) =>
  Type.Unsafe<Page<T>>(Type.Union([paged(full), paged(short)]))

/** A list that is an array by itself, and the usual wrapper once `page` or `pageSize` is given. */
export const bareOrPaged = <T>({ short, full }: Forms) =>
  Type.Unsafe<T[] | Page<T>>(
    Type.Union([list(full), list(short), paged(full), paged(short)], {
      description: 'An array; with `page` or `pageSize` the wrapper of paged lists.',
    }),
  )

export const isPaged = ({ page, pageSize }: PageQuery) =>
  page !== undefined || pageSize !== undefined

/** The page that an answer holds: for bare arrays the first, of `limit` items. */
export function pageWanted(query: ListQuery, bare: number | undefined) {
  if (bare === undefined || isPaged(query)) return paging(query)
  return { page: 1, pageSize: Math.min(query.limit || bare, most), offset: 0 }
}

/** The routes of lists: below `/books` or `/series`, and the same of one library. */
export function listRoutes(kind: Kind, lists: readonly List[]): Route[] {
  return [...lists.map(l => everywhere(kind, l)), ...lists.map(l => inLibrary(kind, l))]
}

function everywhere(kind: Kind, spec: List): Route {
  return route({
    ...common(kind, spec),
    path: `/${kind.of}${spec.path}`,
    query: record({ ...pages(spec), ...ofLibrary, ...spec.takes, ...full }),
    handle: (input, deps) => answerTo({ kind, spec }, input, deps),
  })
}

function inLibrary(kind: Kind, spec: List): Route {
  return route({
    ...common(kind, spec),
    path: `/libraries/{id}/${kind.of}${spec.path}`,
    summary: `${spec.summary}, of one library`,
    params: Id,
    query: record({ ...pages(spec), ...spec.takes, ...full }),
    async handle(input, deps) {
      await requireLibrary(deps.sql, input.viewer, input.params.id)
      return await answerTo({ kind, spec, libraryId: input.params.id }, input, deps)
    },
  })
}

const pages = ({ bare }: List) => ({ ...pageQuery, ...(bare === undefined ? {} : limit(bare)) })

function common({ permission, ...forms }: Kind, { summary, description, bare }: List) {
  return {
    method: 'GET' as const,
    permission,
    summary,
    ...(description ? { description } : {}),
    responses: { 200: bare === undefined ? eitherPaged(forms) : bareOrPaged(forms) } as {
      200: TSchema
    },
  }
}

type Listing = { kind: Kind; spec: List; libraryId?: string }
type Said = Pick<Input<Permission, undefined, undefined, undefined>, 'viewer' | 'request' | 'reply'>

async function answerTo(
  { kind, spec, ...of }: Listing,
  { query: given, viewer, request, reply }: Said & { query: object },
  { sql }: Deps,
) {
  const query = given as ListQuery
  const libraryId = of.libraryId ?? query.libraryId
  const paging = pageWanted(query, spec.bare)
  const { page, pageSize } = paging
  const { ids, total } = await spec.find({ ...query, sql, viewer, libraryId, page, pageSize })
  const data = await kind.byIds({ sql, viewer, full: query.full }, ids)
  if (spec.bare !== undefined && !isPaged(query)) return data
  return pageOf({ request, reply, query }, { data, total, paging })
}
