// Event feed: reads events published by any process, once for all clients of this process. Clients pull: each
// has a position and reads what follows it, from the ring buffer or else from the table.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { createSingleFlight } from '../../base/async/single-flight.ts'
import { Unavailable } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { isConnectionLost } from '../postgres/connection-error.ts'
import { type EventPage, readBounds, readRowsAfter, type Stream } from './event-rows.ts'
import { createRenderer, type Renderer } from './render.ts'
import { createRingBuffer, type RingBuffer } from './ring-buffer.ts'
import { createStreamClients, type StreamClient } from './stream-clients.ts'

export type Pace = {
  /** Interval between comments that keep a connection alive. */
  keepAliveMs: number
  /** Interval between status messages, in streams that have them. */
  statusMs: number
  /** A client that takes longer to read a chunk counts as slow. */
  slowMs: number
  /** The connection of a client that takes this long is closed. */
  stuckMs: number
  /**
   * Interval between checks for stuck clients, and for events whose notification was lost with its
   * connection.
   */
  pollMs: number
}
const defaultPace: Pace = {
  keepAliveMs: 15_000,
  statusMs: 10_000,
  slowMs: 10_000,
  stuckMs: 300_000,
  pollMs: 5_000,
}

const readIntervalMs = 25
const closeTimeoutMs = 1_000

export type EventFeed = {
  pace: Pace
  render: Renderer
  isClosing(): boolean
  /** The number up to which events have been read; a stream that starts there misses no new event. */
  tail(): number
  /** Throws RateLimited and Unavailable. Every client must call `leave`. */
  join(client: { accountId: string; stream: Stream; end: () => void }): Promise<StreamClient>
  after(position: number, stream: Stream): Promise<EventPage>
  /** Lets every stream send its last comment and end; closes other connections. */
  close(): Promise<void>
}

type Options = {
  /** Listens for notifications and reads events for all clients. */
  sql: Sql
  /** Runs queries of individual clients. */
  clientSql: Sql
  log: Pick<Log, 'warn' | 'debug'>
  pace?: Partial<Pace> | undefined
}

export async function openEventFeed({ sql, clientSql, log, pace }: Options): Promise<EventFeed> {
  const ring = createRingBuffer()
  // Clients that reconnect together after a restart request the same pages.
  const tableReads = createSingleFlight<EventPage>()
  const effectivePace = { ...defaultPace, ...pace }
  let starting: Promise<void> | null = null
  let isActive = false
  let isClosing = false

  const clients = createStreamClients(() => {
    starting = null
    isActive = false
  })
  const reader = createRingReader(sql, ring, {
    isActive: () => isActive && !isClosing,
    onEvents: clients.wakeAll,
    onError: err =>
      log[isConnectionLost(err) ? 'debug' : 'warn']({ err }, 'events could not be read'),
  })

  /** Starts the ring buffer at the current tail when the first client joins. */
  function start(): Promise<void> {
    const current = (starting ??= readBounds(sql).then(({ tail }) => {
      if (starting !== current) return
      ring.reset(tail)
      isActive = true
      // Events may have been published before notifications were handled.
      reader.read()
    }))
    current.catch(() => {
      if (starting === current) starting = null
    })
    return current
  }

  const timer = setInterval(() => {
    if (isActive) reader.read()
    clients.endStuck(effectivePace.stuckMs)
  }, effectivePace.pollMs).unref()
  const onNotification = (number: string) => {
    if (isActive && !(Number(number) <= ring.tail())) reader.read()
  }
  const subscription = await sql.listen('event', onNotification, () => isActive && reader.read())

  return {
    pace: effectivePace,
    render: createRenderer(clientSql),
    isClosing: () => isClosing,
    tail: ring.tail,
    async join(newClient) {
      if (isClosing) throw new Unavailable('The server is shutting down')
      const client = clients.add(newClient)
      try {
        await start()
      } catch (error) {
        client.leave()
        throw error
      }
      return client
    },
    async after(position, stream) {
      const page = ring.after(position, stream)
      if (page) return page
      const read = () => readRowsAfter(clientSql, position, stream)
      return tableReads(`${stream} ${position}`, read)
    },
    async close() {
      isClosing = true
      clearInterval(timer)
      clients.wakeAll()
      const deadline = Date.now() + closeTimeoutMs
      while (clients.size() > 0 && Date.now() < deadline) await sleep(10)
      clients.endAll()
      // An unreachable database must not keep the server from shutting down.
      const pending = Promise.allSettled([reader.pending(), subscription.unlisten()])
      await Promise.race([pending, sleep(closeTimeoutMs, undefined, { ref: false })])
    },
  }
}

type ReaderOptions = {
  isActive: () => boolean
  onEvents: () => void
  onError: (error: unknown) => void
}

/** Reads new rows into the ring buffer, one query at a time, with a pause after each. */
function createRingReader(
  sql: Sql,
  ring: RingBuffer,
  { isActive, onEvents, onError }: ReaderOptions,
) {
  let isRequested = false
  let reading: Promise<void> | null = null

  async function readRequested() {
    while (isRequested && isActive()) {
      isRequested = false
      const position = ring.tail()
      const page = await readRowsAfter(sql, position)
      // All clients left during the query, and new ones restarted the buffer.
      if (ring.tail() !== position || !isActive()) continue
      if (page.isExpired) ring.reset(page.upTo)
      else ring.add(page.rows, page.upTo)
      if (page.rows.length > 0 || page.isExpired) onEvents()
      if (page.isFull) isRequested = true
      else await sleep(readIntervalMs)
    }
  }

  return {
    read() {
      isRequested = true
      reading ??= readRequested()
        .catch(onError)
        .finally(() => {
          reading = null
        })
    },
    pending: () => reading,
  }
}
