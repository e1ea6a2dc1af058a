// SSE stream of one client: an endless sequence of chunks, produced only as fast as the client reads them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { Failure } from '../../base/errors.ts'
import type { Subscriber } from './audience.ts'
import { readBounds, type Stream } from './event-rows.ts'
import type { EventFeed } from './feed.ts'
import { streamEvents, streamResyncs } from './metrics.ts'
import type { Rendered, Renderer } from './render.ts'
import { formatComment, formatResync } from './sse-format.ts'
import type { StreamClient } from './stream-clients.ts'

export type StreamOptions = {
  stream: Stream
  /** The stream starts after this event. */
  position: number
  /** Why earlier events are not available. */
  resync: string | null
  unnamed: boolean
  /** Blocks sent first. */
  opening: readonly Buffer[]
  /** Renders the events; defaults to the native API's format. */
  render?: Renderer
  /** Sent periodically in addition to the events. */
  readStatus?: (subscriber: Subscriber) => Promise<Buffer | null>
  /** Sent last to a subscriber that is no longer identified. */
  farewell?: Buffer
  /**
   * Identifies the subscriber again for every page; the stream ends if it returns null or throws a Failure.
   */
  identify: () => Promise<Subscriber | null>
}

const maxLagEvents = 50_000
// Small chunks are combined up to this size and larger ones split, so that a client that stops reading is
// detected.
const chunkBytes = 64 * 1024
const retryMs = 1_000

/**
 * Where to start for a client that has read up to `lastId`; without it, at `tail`, which misses no later
 * event.
 */
export async function startPosition(sql: Sql, lastId: string | undefined, tail: number) {
  if (lastId === undefined) return { position: tail, resync: null }
  if (!/^\d{1,15}$/.test(lastId)) return { position: tail, resync: 'unknown' }
  const { pruned, lastAssigned } = await readBounds(sql)
  const position = Number(lastId)
  if (position > lastAssigned) return { position: tail, resync: 'unknown' }
  if (position < pruned) return { position: tail, resync: 'expired' }
  return { position, resync: null }
}

/** The bytes of a stream. Ends when the client has left or lost its permission, or when the feed closes. */
export async function* eventStream(
  feed: EventFeed,
  client: StreamClient,
  options: StreamOptions,
): AsyncGenerator<Buffer, void, void> {
  try {
    for await (const bytes of blocks(feed, client, options)) {
      for (let from = 0; from < bytes.length; from += chunkBytes) {
        client.pendingSince = performance.now()
        yield bytes.subarray(from, from + chunkBytes)
        client.pendingSince = null
      }
    }
  } finally {
    client.leave()
  }
}

async function* blocks(
  feed: EventFeed,
  client: StreamClient,
  options: StreamOptions,
): AsyncGenerator<Buffer, void, void> {
  const { stream, unnamed, readStatus } = options
  const statusDue = createInterval(readStatus ? feed.pace.statusMs : Number.POSITIVE_INFINITY)
  const keepAlive = createInterval(feed.pace.keepAliveMs)
  // `resumeId`: the id from which the client would resume after disconnecting.
  const state = { ...options, resumeId: options.position, isSlow: false }
  const hasOtherRights = createRightsCheck()

  // No id before a resync: the client must not resume before it knows that it missed events.
  yield formatComment('connected', state.resync === null ? state.position : undefined)
  yield* options.opening
  while (!client.hasLeft) {
    if (feed.isClosing()) return yield formatComment('closing')
    if (state.isSlow && feed.tail() - state.position > maxLagEvents)
      Object.assign(state, { position: feed.tail(), resync: 'slow' })
    state.isSlow = false
    if (state.resync) {
      streamResyncs.inc({ stream })
      yield formatResync(state.resync, { id: state.position, unnamed })
      Object.assign(state, { resumeId: state.position, resync: null })
    }
    const page = await readPage(feed, client, state)
    if (page === 'denied') {
      if (options.farewell) yield options.farewell
      return
    }
    if (page?.isExpired) {
      Object.assign(state, { position: feed.tail(), resync: 'expired' })
      continue
    }
    if (page) {
      for (const { bytes, count, last } of joinBlocks(page.rendered)) {
        const sentAt = performance.now()
        yield bytes
        streamEvents.inc({ stream }, count)
        state.resumeId = last
        if (performance.now() - sentAt > feed.pace.slowMs) state.isSlow = true
        if (keepAlive.isDue()) yield formatComment('keep-alive')
      }
      state.position = page.upTo
      // What the client currently shows may have become hidden from it.
      if (hasOtherRights(page.subscriber)) state.resync = 'account'
      if (page.isFull || state.resync) continue
    }
    // Events read in the meantime are sent without waiting.
    if (feed.tail() <= state.position && !feed.isClosing())
      await client.wait(Math.min(keepAlive.leftMs(), statusDue.leftMs()))
    const due = page && statusDue.isDue() ? await readStatus!(page.subscriber) : null
    if (due) yield due
    if (!keepAlive.isDue()) continue
    // The id also advances past events that are invisible to this client.
    yield formatComment('keep-alive', state.position > state.resumeId ? state.position : undefined)
    state.resumeId = state.position
  }
}

/** Whether what a subscriber may see or do differs from the previous call. */
function createRightsCheck() {
  let latest: Subscriber | null = null
  const textOf = ({ viewer, permissions }: Subscriber) => {
    // Excludes libraries being deleted, which has its own event.
    const libraries = viewer.hasAllLibraries ? null : viewer.libraries
    return JSON.stringify([{ ...viewer, libraries }, [...permissions].sort()])
  }
  return (subscriber: Subscriber): boolean => {
    const previous = latest
    latest = subscriber
    return previous !== null && previous !== subscriber && textOf(previous) !== textOf(subscriber)
  }
}

function createInterval(ms: number) {
  let due = performance.now() + ms
  return {
    leftMs: () => due - performance.now(),
    /** True once per interval. */
    isDue() {
      if (performance.now() < due) return false
      due = performance.now() + ms
      return true
    },
  }
}

/** 'denied' if the client lost its permission; null if the database is unavailable. */
async function readPage(feed: EventFeed, client: StreamClient, options: StreamOptions) {
  const { stream, position, unnamed, identify } = options
  try {
    const subscriber = await identify()
    if (!subscriber) return 'denied' as const
    const { rows, ...page } = await feed.after(position, stream)
    const render = options.render ?? feed.render
    const rendered = await render(rows, { subscriber, unnamed, position })
    return { ...page, rendered, subscriber }
  } catch (error) {
    if (error instanceof Failure) return 'denied' as const
    // The database is unavailable: reconnecting would not help the client.
    await sleep(retryMs)
    return client.hasLeft ? ('denied' as const) : null
  }
}

function* joinBlocks(parts: Iterable<Rendered>): Generator<Rendered, void, void> {
  let pending: Rendered[] = []
  let sizeBytes = 0
  for (const part of parts) {
    if (sizeBytes > 0 && sizeBytes + part.bytes.length > chunkBytes) {
      yield concat(pending)
      pending = []
      sizeBytes = 0
    }
    pending.push(part)
    sizeBytes += part.bytes.length
  }
  if (sizeBytes > 0) yield concat(pending)
}

function concat(parts: readonly Rendered[]): Rendered {
  const last = parts.at(-1)!
  if (parts.length === 1) return last
  return {
    bytes: Buffer.concat(parts.map(part => part.bytes)),
    count: parts.reduce((sum, part) => sum + part.count, 0),
    last: last.last,
  }
}
