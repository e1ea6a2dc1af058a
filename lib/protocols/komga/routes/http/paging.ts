// Paging in the compatible API: parameters, and Spring Data's page wrapper with all its fields. A list requested as a
// whole is sent in batches as they are read, so that its length costs no memory.
import { Readable } from 'node:stream'
import {
  component,
  count,
  list,
  maybe,
  record,
  type Static,
  type TSchema,
  Type,
} from '../../../../base/schema.ts'
import { compileSerializer } from '../../../../http/json/serialize.ts'
import { type RouteResponse, respond } from '../../../../http/route.ts'
import { flags } from '../../values.ts'
import { lenientInteger, listParameter } from './read-request.ts'

const defaultSize = 20
const maxSize = 2000
/** Items read at once for a whole list; batches of 500 take more memory and more database time. */
export const batchSize = 200

/** Query parameters of a paged list; `sortQuery` is added if its order can be chosen. */
export const pageQuery = {
  page: lenientInteger(),
  size: lenientInteger(),
  unpaged: maybe(Type.Boolean()),
}
/** `sort=name,asc`, repeatable. */
export const sortQuery = { sort: listParameter(Type.String(), { hasCommas: false }) }

type PageQuery = {
  page?: number | undefined
  size?: number | undefined
  unpaged?: boolean | undefined
}
export type PageRequest = { page: number; size: number; offset: number; isUnpaged: boolean }
type SortKey = { property: string; isDescending: boolean }

/** The requested page: 0-based, 20 items by default, at most 2000. */
export function pageRequest({ page = 0, size = 0, unpaged = false }: PageQuery): PageRequest {
  const number = unpaged ? 0 : Math.min(Math.max(page, 0), Number.MAX_SAFE_INTEGER / maxSize)
  const length = size < 1 ? defaultSize : Math.min(size, maxSize)
  return {
    page: Math.floor(number),
    size: length,
    offset: Math.floor(number) * length,
    isUnpaged: unpaged,
  }
}

/** `a,b,desc` sorts by both in that direction; the default is ascending. */
export function sortKeys(parameters: readonly string[] = []): SortKey[] {
  return parameters.flatMap(parameter => {
    const parts = parameter.split(',').map(part => part.trim())
    const direction = /^(?:asc|desc)$/i.test(parts.at(-1)!) ? parts.pop()!.toLowerCase() : 'asc'
    return parts
      .filter(property => property !== '')
      .map(property => ({ property, isDescending: direction === 'desc' }))
  })
}

const Sort = component('SortObject', flags('empty', 'sorted', 'unsorted'))
const envelope = {
  pageable: component('PageableObject', {
    pageNumber: count(),
    pageSize: count(),
    sort: Sort,
    offset: count(),
    ...flags('paged', 'unpaged'),
  }),
  totalElements: count(),
  totalPages: count(),
  ...flags('last', 'first'),
  size: count(),
  number: count(),
  numberOfElements: count(),
  empty: Type.Boolean(),
  sort: Sort,
}
const Envelope = component('PageEnvelope', envelope)

/** Schema of a page, named after its items' component (`PageSeriesDto`). */
export function pageOf<T extends TSchema>(item: T) {
  const { component } = item as { component?: string }
  return record(
    { content: list(item), ...envelope },
    component ? { component: `Page${component}` } : {},
  )
}

type PageShape = { request: PageRequest; isSorted: boolean; total: number; length: number }

function envelopeOf({ request, isSorted, total, length }: PageShape): Static<typeof Envelope> {
  const { page, isUnpaged } = request
  const size = isUnpaged ? Math.max(total, defaultSize) : request.size
  const totalPages = isUnpaged ? Math.min(total, 1) : Math.ceil(total / size)
  const sort = { empty: !isSorted, sorted: isSorted, unsorted: !isSorted }
  return {
    pageable: {
      pageNumber: page,
      pageSize: size,
      sort,
      offset: page * size,
      paged: !isUnpaged,
      unpaged: isUnpaged,
    },
    totalElements: total,
    totalPages,
    last: page + 1 >= totalPages,
    first: page === 0,
    size,
    number: page,
    numberOfElements: length,
    empty: length === 0,
    sort,
  }
}

type Paged<T> = { request: PageRequest; isSorted?: boolean } & { content: T[]; total: number }

/** A page of a list. `total` counts the items of all pages. */
export function springPage<T>({ content, isSorted = false, ...page }: Paged<T>): SpringPage<T> {
  return { content, ...envelopeOf({ ...page, isSorted, length: content.length }) }
}

/** A page of a short list that is entirely in memory. */
export function pageOfAll<T>(request: PageRequest, all: readonly T[], isSorted = false) {
  const { offset, size, isUnpaged } = request
  const content = isUnpaged ? [...all] : all.slice(offset, offset + size)
  return springPage({ request, isSorted, content, total: all.length })
}

type Whole<T extends TSchema> = {
  request: PageRequest
  isSorted?: boolean
  item: T
  batches: AsyncIterable<readonly Static<T>[]>
}
type SpringPage<T> = { content: T[] } & Static<typeof Envelope>

/**
 * A list requested as a whole: one page with all items. A list of a single batch is an ordinary page; of longer
 * lists each batch is sent before the next is read, as fast as the client receives.
 */
export async function wholePage<T extends TSchema>({
  request,
  isSorted = false,
  item,
  batches,
}: Whole<T>): Promise<SpringPage<Static<T>> | RouteResponse<200, Readable>> {
  const iterator = batches[Symbol.asyncIterator]()
  const first = await iterator.next()
  const content = first.done ? [] : first.value
  const second = first.done ? first : await iterator.next()
  if (second.done) {
    const total = content.length
    return springPage({ request, isSorted, content: [...content], total })
  }
  const write = serializerOf(item)
  const writeEnvelope = serializerOf(Envelope)
  async function* texts() {
    let total = 0
    const join = (items: readonly Static<T>[]) => {
      const text = items.map(write).join(',')
      const separator = total > 0 && items.length > 0 ? ',' : ''
      total += items.length
      return separator + text
    }
    try {
      yield `{"content":[${join(content)}`
      yield join(second.value)
      for (let next = await iterator.next(); !next.done; next = await iterator.next())
        yield join(next.value)
      const shape = envelopeOf({ request, isSorted, total, length: total })
      yield `],${writeEnvelope(shape).slice(1)}`
    } finally {
      // The client may have disconnected.
      await iterator.return?.()
    }
  }
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  const stream = Readable.from(texts(), { objectMode: false, highWaterMark: 64 * 1024 })
  return respond(200, stream, headers)
}

const serializerOf = (schema: TSchema): ((value: unknown) => string) =>
  compileSerializer({ schema, method: 'GET', url: '' } as never) as (value: unknown) => string
