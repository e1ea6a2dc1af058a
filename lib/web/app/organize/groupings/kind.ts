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
type Subject = { kind: Kind; id: string }

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
  const page = await body<unknown>(
    kind === 'collections'
      ? api.GET('/api/v1/collections', init)
      : api.GET('/api/v1/readlists', init),
  )
  return page as { data: Grouping[]; total: number }
}

export async function findGrouping({ kind, id }: Subject, signal: AbortSignal): Promise<Grouping> {
  const init = { params: { path: { id } }, signal }
  const found = await body<unknown>(
    kind === 'collections'
      ? api.GET('/api/v1/collections/{id}', init)
      : api.GET('/api/v1/readlists/{id}', init),
  )
  return found as Grouping
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
  const created = await body<unknown>(
    kind === 'collections'
      ? api.POST('/api/v1/collections', {
          body: { ...fields, ...(memberIds.length > 0 && { seriesIds: [...memberIds] }) },
        })
      : api.POST('/api/v1/readlists', { body: { ...fields, bookIds: [...memberIds] } }),
  )
  return created as Grouping
}

export async function changeGrouping(
  { kind, id }: Subject,
  fields: Partial<Fields>,
): Promise<Grouping> {
  const init = { params: { path: { id } }, body: fields }
  const changed = await body<unknown>(
    kind === 'collections'
      ? api.PATCH('/api/v1/collections/{id}', init)
      : api.PATCH('/api/v1/readlists/{id}', init),
  )
  return changed as Grouping
}

export async function deleteGrouping({ kind, id }: Subject): Promise<void> {
  const params = { path: { id } }
  if (kind === 'collections') await api.DELETE('/api/v1/collections/{id}', { params })
  else await api.DELETE('/api/v1/readlists/{id}', { params })
}

export async function addMembers({ kind, id }: Subject, ids: readonly string[]): Promise<void> {
  const params = { path: { id } }
  if (kind === 'collections')
    await api.POST('/api/v1/collections/{id}/series', { params, body: { seriesIds: [...ids] } })
  else await api.POST('/api/v1/readlists/{id}/books', { params, body: { bookIds: [...ids] } })
}

export async function removeMember({ kind, id }: Subject, memberId: string): Promise<void> {
  const params = { path: { id, member_id: memberId } }
  if (kind === 'collections')
    await api.DELETE('/api/v1/collections/{id}/series/{member_id}', { params })
  else await api.DELETE('/api/v1/readlists/{id}/books/{member_id}', { params })
}

/** Reorders the listed members among their places; others stay. */
export async function orderMembers({ kind, id }: Subject, ids: readonly string[]): Promise<void> {
  const params = { path: { id } }
  if (kind === 'collections')
    await api.PUT('/api/v1/collections/{id}/series', { params, body: { seriesIds: [...ids] } })
  else await api.PUT('/api/v1/readlists/{id}/books', { params, body: { bookIds: [...ids] } })
}

export type Member = Schemas['Series'] | Schemas['Book']

export async function listMembers(
  { kind, id }: Subject,
  { sort, ...page }: Page & { sort?: MemberSort },
  signal?: AbortSignal,
): Promise<{ data: Member[]; total: number }> {
  const init = {
    params: { path: { id }, query: { ...page, ...(sort && sort !== 'default' && { sort }) } },
    ...(signal && { signal }),
  }
  return (await body<unknown>(
    kind === 'collections'
      ? api.GET('/api/v1/collections/{id}/series', init)
      : api.GET('/api/v1/readlists/{id}/books', init),
  )) as { data: Member[]; total: number }
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
