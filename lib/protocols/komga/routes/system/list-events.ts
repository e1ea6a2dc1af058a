// Events of collections and read lists in the Komga-compatible API, with the members that the caller sees. An
// account from which something is hidden receives only those that affect what it sees.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../../../../accounts/viewer.ts'
import { NotFound } from '../../../../base/errors.ts'
import { booksOfReadList, seriesOfCollection } from '../../../../organize/grouping/contents.ts'
import {
  collections,
  type Grouping,
  isShownSeries,
  readLists,
  seesEverything,
} from '../../../../organize/grouping/grouping.ts'
import type { Subscriber } from '../../../../store/event/audience.ts'
import type { EventRow } from '../../../../store/event/event-rows.ts'
import type { Rendered, Renderer } from '../../../../store/event/render.ts'
import type { WithServices } from '../../../../store/services.ts'
import { formatKomgaMessage, type Message } from './event-format.ts'

// Clients load the rest.
export const maxListed = 500
const maxCached = 200
// As for other events: how long a result may be reused for accounts with the same restrictions.
const visibilityTtlMs = 5_000

const kinds = {
  collection: {
    grouping: collections,
    permission: 'CollectionsRead',
    contents: seriesOfCollection,
    name: 'Collection',
    poster: 'ThumbnailSeriesCollection',
    idsKey: 'seriesIds',
  },
  read_list: {
    grouping: readLists,
    permission: 'ReadListsRead',
    contents: booksOfReadList,
    name: 'ReadList',
    poster: 'ThumbnailReadList',
    idsKey: 'bookIds',
  },
} as const
type Kind = (typeof kinds)[keyof typeof kinds]
type Change = 'created' | 'updated' | 'deleted'

/** A renderer of these events that passes all others to `render`. */
export function withListEvents(db: WithServices, render: Renderer): Renderer {
  const known = new LRUCache<string, Promise<Buffer>>({ max: maxCached, ttl: visibilityTtlMs })

  /** Empty if the subscriber does not receive it. */
  function bytesOf(row: EventRow, subscriber: Subscriber): Promise<Buffer> {
    const [, subject, change] = /^(collection|read_list)_(.+)$/.exec(row.type)!
    const kind = kinds[subject as keyof typeof kinds]
    const { viewer, permissions } = subscriber
    if (!permissions.has(kind.permission)) return Promise.resolve(Buffer.alloc(0))
    const key = `${row.number} ${seesEverything(viewer) || restrictionsOf(viewer)}`
    const cached = known.get(key)
    if (cached) return cached
    const made = messageOf(db, viewer, { row, kind, change: change as Change }).then(message =>
      message ? formatKomgaMessage(message, row.number) : Buffer.alloc(0),
    )
    known.set(key, made)
    made.catch(() => known.delete(key))
    return made
  }

  return async (rows, request) => {
    const lists: Rendered[] = []
    for (const row of rows.filter(isOfList)) {
      const bytes = await bytesOf(row, request.subscriber)
      if (bytes.length > 0) lists.push({ bytes, count: 1, last: row.number })
    }
    const others = rows.filter(row => !isOfList(row))
    return inOrder(lists, await render(others, request))
  }
}

const isOfList = ({ stream, type }: EventRow) =>
  stream === 'entity' && /^(?:collection|read_list)_/.test(type)

/** Equal for accounts that see the same things. */
const restrictionsOf = ({ accountId: _, ...restrictions }: Viewer) => JSON.stringify(restrictions)

function* inOrder(lists: Rendered[], others: Iterable<Rendered>): Generator<Rendered, void, void> {
  for (const other of others) {
    while (lists.length > 0 && lists[0]!.last < other.last) yield lists.shift()!
    yield other
  }
  yield* lists
}

type ListEvent = { row: EventRow; kind: Kind; change: Change }

async function messageOf(db: WithServices, viewer: Viewer, { row, kind, change }: ListEvent) {
  const { grouping, name, poster, idsKey } = kind
  const id = String(row.data![grouping.idKey])
  const message = (suffix: string, members: readonly string[]): Message => ({
    name: `${name}${suffix}`,
    data: { [grouping.idKey]: id, [idsKey]: members.slice(0, maxListed) },
  })
  const isWhole = seesEverything(viewer)
  // Changed members, or the former members of a deleted list.
  const concerned = () => shownOf(db.sql, viewer, grouping, row.audience?.members ?? [])
  if (change === 'deleted') {
    const members = await concerned()
    return isWhole || members.length > 0 ? message('Deleted', members) : null
  }
  const fields = row.fields ?? []
  const isOfMembers = change === 'updated' && fields.every(field => field === grouping.contents)
  if (!isWhole && isOfMembers && (await concerned()).length === 0) return null
  const members = await membersOf(db, viewer, kind, id)
  // The last member that the account saw may have been removed.
  if (members === null) return (await concerned()).length > 0 ? message('Deleted', []) : null
  if (fields.includes('cover') || fields.includes('covers')) {
    const action = fields.includes('deleted') ? 'Deleted' : 'Added'
    const data = { [grouping.idKey]: id, selected: fields.includes('cover') }
    return { name: `${poster}${action}`, data }
  }
  return message(change === 'created' ? 'Added' : 'Changed', members)
}

/** Null if the viewer does not see the list. */
async function membersOf(db: WithServices, viewer: Viewer, { contents }: Kind, id: string) {
  try {
    const request = { id, withEmpty: seesEverything(viewer), page: 1, pageSize: maxListed }
    return (await contents(db, viewer, request)).ids
  } catch (error) {
    if (error instanceof NotFound) return null
    throw error
  }
}

/** The members that the viewer sees, in order. */
async function shownOf(sql: Sql, viewer: Viewer, { contents }: Grouping, ids: readonly string[]) {
  if (ids.length === 0) return []
  const rows =
    contents === 'series'
      ? await sql<{ id: string }[]>`
          select s.id from series s
          where s.id = any(${ids as string[]}::uuid[]) and ${isShownSeries(sql, viewer)}`
      : await sql<{ id: string }[]>`
          select b.id from book b join series s on s.id = b.series_id
          where b.id = any(${ids as string[]}::uuid[]) and ${presentBook(sql)}
            and ${visibleBook(sql, viewer)}`
  const shown = new Set(rows.map(row => row.id))
  return ids.filter(id => shown.has(id))
}
