// Requests shared by collections of series and read lists of books.

import { api, body, type Schemas } from '../../api/client.ts'
import type { TextKey } from '../../text/translate.ts'

export type Kind = 'collections' | 'readlists'
export type Rule = Schemas['CollectionRule']
export type Grouping = {
  id: string
  name: string
  summary: string | null
  /** Whether the members are arranged by hand. */
  ordered: boolean
  /** The rule of an automatic collection. */
  condition?: Rule | null
  automatic?: boolean
  seriesCount?: number | null
  bookCount?: number
  updatedAt: string
}
type Page = { page: number; pageSize: number }
export type Subject = { kind: Kind; id: string }

type KindDetails = {
  name: TextKey
  write: Schemas['Permission']
  remove: Schemas['Permission']
  member: 'series' | 'books'
  /** The default order of members that are not arranged by hand. */
  sort: MemberSort
}

export const kinds = {
  collections: {
    name: 'nav.collections',
    write: 'CollectionsWrite',
    remove: 'CollectionsDelete',
    member: 'series',
    sort: 'title',
  },
  readlists: {
    name: 'nav.readLists',
    write: 'ReadListsWrite',
    remove: 'ReadListsDelete',
    member: 'books',
    sort: 'release_date',
  },
} as const satisfies Record<Kind, KindDetails>

/** Null if members are not counted. */
export const memberCount = (grouping: Grouping): number | null =>
  grouping.bookCount ?? grouping.seriesCount ?? null

/** Whether a rule chooses the members. */
export const isAutomatic = (grouping: Grouping) => grouping.automatic === true

export async function listGroupings(
  kind: Kind,
  query: Page & { search?: string },
  signal?: AbortSignal,
): Promise<{ data: Grouping[]; total: number }> {
  const init = { params: { query }, ...(signal && { signal }) }
  return (await body(api.GET(`/api/v1/${kind}`, init))) as { data: Grouping[]; total: number }
}

export type Fields = {
  name: string
  summary: string | null
  ordered: boolean
  /** Collections only. */
  condition?: Rule | null
}

export async function createGrouping(
  kind: Kind,
  fields: Fields,
  memberIds: readonly string[] = [],
): Promise<Grouping> {
  // An automatic collection has no members of its own.
  const hasMembers = kind === 'readlists' || memberIds.length > 0
  const request = { ...fields, ...(hasMembers && membersOf(kind, memberIds)) }
  return (await body(api.POST(`/api/v1/${kind}`, { body: request }))) as Grouping
}

export async function changeGrouping(
  { kind, id }: Subject,
  fields: Partial<Fields>,
): Promise<Grouping> {
  const params = { path: { id } }
  const changed = await body(api.PATCH(`/api/v1/${kind}/{id}`, { params, body: fields }))
  return changed as Grouping
}

export async function deleteGrouping({ kind, id }: Subject): Promise<void> {
  await api.DELETE(`/api/v1/${kind}/{id}`, { params: { path: { id } } })
}

const membersOf = (kind: Kind, ids: readonly string[]) =>
  kind === 'collections' ? { seriesIds: [...ids] } : { bookIds: [...ids] }

/** Path of the members of a grouping. */
const memberPath = (kind: Kind) =>
  kind === 'collections' ? '/api/v1/collections/{id}/series' : '/api/v1/readlists/{id}/books'

export async function addMembers({ kind, id }: Subject, ids: readonly string[]): Promise<void> {
  const init = { params: { path: { id } }, body: membersOf(kind, ids) }
  await api.POST(memberPath(kind), init)
}

export async function removeMember({ kind, id }: Subject, memberId: string): Promise<void> {
  const params = { path: { id, member_id: memberId } }
  await api.DELETE(`${memberPath(kind)}/{member_id}`, { params })
}

/** Reorders the listed members among their places; others stay. */
export async function orderMembers({ kind, id }: Subject, ids: readonly string[]): Promise<void> {
  const init = { params: { path: { id } }, body: membersOf(kind, ids) }
  await api.PUT(memberPath(kind), init)
}

export type Member = Schemas['Series'] | Schemas['Book']

export async function listMembers(
  { kind, id }: Subject,
  { sort, ...page }: Page & { sort?: MemberSort },
  signal?: AbortSignal,
): Promise<{ data: Member[]; total: number }> {
  const query = { ...page, ...(sort && sort !== 'default' && { sort }) }
  const init = { params: { path: { id }, query }, ...(signal && { signal }) }
  return await body<{ data: Member[]; total: number }>(api.GET(memberPath(kind), init))
}

/** `default`: by hand where the members are arranged, else by title or release date. */
export const memberSorts = ['default', 'manual', 'title', 'added,desc', 'release_date'] as const
export type MemberSort = (typeof memberSorts)[number]

export const sortTexts = {
  manual: 'sort.custom',
  title: 'field.title',
  'added,desc': 'groupings.sort.added,desc',
  release_date: 'field.releaseDate',
} as const satisfies Record<Exclude<MemberSort, 'default'>, TextKey>
