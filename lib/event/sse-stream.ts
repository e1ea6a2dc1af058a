// One client of a stream, from its first comment to its last: an endless sequence of bytes that goes on
// only as fast as they are taken.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { Failure } from '../errors.ts'
import { streamEvents, streamResyncs } from '../metrics/streams.ts'
import type { Seer } from './audience.ts'
import { bounds, type Stream } from './event-rows.ts'
import type { Feed } from './feed.ts'
import type { Rendered } from './render.ts'
import { comment, resyncBlock } from './sse-format.ts'
import type { Listener } from './subscribers.ts'

export type Following = {
  stream: Stream
  /** After which number it begins. */
  position: number
  /** Why events before that cannot be had. */
  resync: string | null
  unnamed: boolean
  /** Blocks to begin with. */
  opening: readonly Buffer[]
  /** Who listens, asked again and again; null, or a Failure thrown, ends the stream. */
  identify: () => Promise<Seer | null>
}

const tooFar = 50_000
// Small pieces are joined up to this, large ones are cut: then a client that takes nothing shows.
const pieceBytes = 64 * 1024
const retryMs = 1_000

/**
 * Where to begin for a client that read up to `lastId` before; without one at `tail`, from where on
 * everything is there.
 */
export async function beginning(
  sql: Sql,
  lastId: string | undefined,
  tail: number,
): Promise<Pick<Following, 'position' | 'resync'>> {
  if (lastId === undefined) return { position: tail, resync: null }
  if (!/^\d{1,15}$/.test(lastId)) return { position: tail, resync: 'unknown' }
  const { pruned, ever } = await bounds(sql)
  const position = Number(lastId)
  if (position > ever) return { position: tail, resync: 'unknown' }
  if (position < pruned) return { position: tail, resync: 'expired' }
  return { position, resync: null }
}

/** The bytes of a stream. Ends when the listener has left, is no longer allowed, or the feed closes. */
export async function* follow(
  feed: Feed,
  listener: Listener,
  following: Following,
): AsyncGenerator<Buffer, void, void> {
  try {
    for await (const bytes of pieces(feed, listener, following)) {
      for (let from = 0; from < bytes.length; from += pieceBytes) {
        listener.offeredAt = performance.now()
        yield bytes.subarray(from, from + pieceBytes)
        listener.offeredAt = null
      }
    }
  } finally {
    listener.leave()
  }
}

async function* pieces(
  feed: Feed,
  listener: Listener,
  following: Following,
): AsyncGenerator<Buffer, void, void> {
  const { stream, unnamed } = following
  const alive = everySoOften(feed.pace.keepAlive)
  // `known`: the number that the client would come back with.
  const at = { ...following, known: following.position, isSlow: false }

  // A position from which it must not go on before it heard that something is missing.
  yield comment('connected', at.resync === null ? at.position : undefined)
  yield* following.opening
  while (!listener.hasLeft) {
    if (feed.isClosing()) return yield comment('closing')
    if (at.isSlow && feed.tail() - at.position > tooFar)
      Object.assign(at, { position: feed.tail(), resync: 'slow' })
    at.isSlow = false
    if (at.resync) {
      streamResyncs.inc({ stream })
      yield resyncBlock(at.resync, { id: at.position, unnamed })
      Object.assign(at, { known: at.position, resync: null })
    }
    const page = await nextPage(feed, listener, at)
    if (page === 'refused') return
    if (page?.isLost) {
      Object.assign(at, { position: feed.tail(), resync: 'expired' })
      continue
    }
    if (page) {
      for (const { bytes, count, last } of joined(page.rendered)) {
        const offered = performance.now()
        yield bytes
        streamEvents.inc({ stream }, count)
        at.known = last
        if (performance.now() - offered > feed.pace.slow) at.isSlow = true
        if (alive.isDue()) yield comment('keep-alive')
      }
      at.position = page.upTo
      if (page.isFull) continue
    }
    // What was read between must not be waited for.
    if (feed.tail() <= at.position && !feed.isClosing()) await listener.wait(alive.leftMs())
    if (!alive.isDue()) continue
    // Past events that this client does not see, too.
    yield comment('keep-alive', at.position > at.known ? at.position : undefined)
    at.known = at.position
  }
}

function everySoOften(ms: number) {
  let due = performance.now() + ms
  return {
    leftMs: () => due - performance.now(),
    /** True once each time. */
    isDue() {
      if (performance.now() < due) return false
      due = performance.now() + ms
      return true
    },
  }
}

/** 'refused' when the client may no longer listen; null when nothing can be had now. */
async function nextPage(feed: Feed, listener: Listener, following: Following) {
  const { stream, position, unnamed, identify } = following
  try {
    const seer = await identify()
    if (!seer) return 'refused' as const
    const { rows, ...page } = await feed.after(position, stream)
    const rendered = await feed.render(rows, { seer, unnamed, position })
    return { ...page, rendered }
  } catch (error) {
    if (error instanceof Failure) return 'refused' as const
    // The database is away: whoever waits here would come back to the same.
    await sleep(retryMs)
    return listener.hasLeft ? ('refused' as const) : null
  }
}

function* joined(parts: Iterable<Rendered>): Generator<Rendered, void, void> {
  let held: Rendered[] = []
  let size = 0
  for (const part of parts) {
    if (size > 0 && size + part.bytes.length > pieceBytes) {
      yield together(held)
      held = []
      size = 0
    }
    held.push(part)
    size += part.bytes.length
  }
  if (size > 0) yield together(held)
}

function together(parts: readonly Rendered[]): Rendered {
  const last = parts.at(-1)!
  if (parts.length === 1) return last
  return {
    bytes: Buffer.concat(parts.map(part => part.bytes)),
    count: parts.reduce((sum, part) => sum + part.count, 0),
    last: last.last,
  }
}
