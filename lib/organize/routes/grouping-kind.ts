// What collections and read lists have in common in the API: their schemas, and how they are found, listed and changed.
import type { TSchema } from 'typebox'
import type { Identity } from '../../accounts/identify.ts'
import type { Permission } from '../../accounts/permission.ts'
import type { Viewer } from '../../accounts/viewer.ts'
import { Invalid } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { maybe, oneOf, type record, Type } from '../../base/schema.ts'
import type { Deps } from '../../http/deps.ts'
import { type PageQuery, paged, pagedResponse } from '../../http/pagination.ts'
import { CollectionId, ReadListId, type SeriesId } from '../../http/params.ts'
import type { Input } from '../../http/route.ts'
import { collections, groupingNotFound, readLists } from '../grouping/grouping.ts'
import {
  findGrouping,
  type GroupingListRequest,
  type GroupingRow,
  groupingRows,
  listGroupings,
} from '../grouping/list.ts'
import { maxMembers } from '../grouping/members.ts'
import type { GroupingChange } from '../grouping/write.ts'

/** What the routes of collections and those of read lists differ in. */
export const ofCollections = {
  grouping: collections,
  one: 'Collection',
  many: 'Collections',
  noun: 'collection',
  path: '/collections',
  params: CollectionId,
  idsKey: 'seriesIds',
  read: 'CollectionsRead',
  write: 'CollectionsWrite',
  remove: 'CollectionsDelete',
} as const
export const ofReadLists = {
  grouping: readLists,
  one: 'ReadList',
  many: 'ReadLists',
  noun: 'read list',
  path: '/readlists',
  params: ReadListId,
  idsKey: 'bookIds',
  read: 'ReadListsRead',
  write: 'ReadListsWrite',
  remove: 'ReadListsDelete',
} as const

export type RouteKind = (typeof ofCollections | typeof ofReadLists) & {
  /** Path and parameter of its members. */
  memberPath: '/series' | '/books'
  memberParams: typeof SeriesId
  /** Permission to read the members. */
  readMembers: Permission
  item: ReturnType<typeof record>
  toItem: (row: GroupingRow, permissions: Reader) => unknown
  /** Properties of the body other than name, summary and order. */
  settings: Record<string, TSchema>
  change: (body: Record<string, unknown>) => Pick<GroupingChange, 'rule'>
  /** Checks that a member exists and is visible. Throws NotFound. */
  requireMember: (sql: Deps['sql'], viewer: Viewer, id: string) => Promise<unknown>
}

export type Reader = { canWrite: boolean; viewer: Viewer }

export type Signed = { identity: Identity; viewer: Viewer }
type PagedInput = Signed &
  Pick<Input<'auth', never, never, never>, 'request' | 'reply'> & {
    query: PageQuery & { search?: string }
  }

type Read = Pick<Deps, 'sql' | 'services'>

/** The schemas of a kind, and functions for its handlers. */
export function kitOf(kind: RouteKind) {
  const { grouping, idsKey, item, write } = kind
  const readerOf = ({ identity, viewer }: Signed): Reader => ({
    canWrite: identity.permissions.has(write),
    viewer,
  })
  return {
    Page: paged(item),
    /** Throws NotFound. */
    async find(input: Signed, deps: Read, id: string) {
      const reader = readerOf(input)
      const request = { id, withEmpty: reader.canWrite }
      return kind.toItem(await findGrouping(deps, input.viewer, grouping, request), reader) as never
    },
    /** Response to a change by the caller. */
    async changed(input: Signed, { sql }: Pick<Deps, 'sql'>, id: string) {
      const [row] = await groupingRows(sql, input.viewer, grouping, [id])
      if (!row) throw groupingNotFound(grouping)
      return kind.toItem(row, readerOf(input)) as never
    },
    page: (input: PagedInput, deps: Read, more: Pick<GroupingListRequest, 'memberId'> = {}) =>
      pagedResponse(input, async ({ page, pageSize }) => {
        const { search } = input.query
        const reader = readerOf(input)
        const { rows, total } = await listGroupings(deps, input.viewer, grouping, {
          ...{ ...more, search: search ? [search] : [], withEmpty: reader.canWrite },
          ...{ page, pageSize },
        })
        return { data: rows.map(row => kind.toItem(row, reader)), total }
      }) as never,
    changeOf: (body: Record<string, unknown>): GroupingChange => ({
      ...(body as Pick<GroupingChange, 'name' | 'summary' | 'ordered'>),
      ...kind.change(body),
      memberIds: body[idsKey] === undefined ? undefined : parseIds(body[idsKey], idsKey),
    }),
  }
}

/** The direction parameter of lists of members. */
export const contentsDirection = maybe(
  oneOf(['asc', 'desc'], { description: 'Direction of the order; `order` has the same meaning.' }),
)

/** Ids of members in a body. Checked by `parseIds`, because the validator would read all items of an invalid list. */
export const idList = (description: string) =>
  Type.Unsafe<string[]>({
    type: 'array',
    maxItems: maxMembers,
    documentedAs: {
      ...{ type: 'array', items: { type: 'string', format: 'uuid' }, maxItems: maxMembers },
      description,
    },
  })

/** Ids in lower case. Throws Invalid. */
export function parseIds(values: unknown, name: string): string[] {
  return (values as unknown[]).map(value => {
    if (typeof value !== 'string' || !isUuid(value)) throw new Invalid(`${name} must contain UUIDs`)
    return value.toLowerCase()
  })
}
