// Registry of this process's stream clients: a limit per account, wakeups, and detection of clients that
// stopped reading.
import { RateLimited } from '../../base/errors.ts'
import type { Stream } from './event-rows.ts'
import { streamClients } from './metrics.ts'

type NewClient = {
  accountId: string
  stream: Stream
  /** Closes the connection. */
  end: () => void
}

/**
 * `pendingSince`: since when the client has not accepted the last chunk, by performance.now(); null if none
 * is pending.
 */
export type StreamClient = {
  pendingSince: number | null
  hasLeft: boolean
  /** Resolves on new events, after `ms`, or when the client leaves. */
  wait(ms: number): Promise<void>
  leave(): void
}
type Registered = StreamClient & NewClient & { wake: () => void }

const maxPerAccount = 500
const retryAfterSeconds = 30

/** `onEmpty` is called when the last client leaves. */
export function createStreamClients(onEmpty: () => void) {
  const clients = new Set<Registered>()
  const countByAccount = new Map<string, number>()

  function addToCount(accountId: string, change: number) {
    const count = (countByAccount.get(accountId) ?? 0) + change
    if (count > 0) countByAccount.set(accountId, count)
    else countByAccount.delete(accountId)
  }

  function leave(client: Registered) {
    if (!clients.delete(client)) return
    client.hasLeft = true
    addToCount(client.accountId, -1)
    streamClients.dec({ stream: client.stream })
    client.wake()
    if (clients.size === 0) onEmpty()
  }

  return {
    size: () => clients.size,
    /** Throws RateLimited when the account has too many clients. */
    add(newClient: NewClient): StreamClient {
      if ((countByAccount.get(newClient.accountId) ?? 0) >= maxPerAccount)
        throw new RateLimited('Too many streams are open for this account', retryAfterSeconds)
      const client: Registered = {
        ...newClient,
        pendingSince: null,
        hasLeft: false,
        wake: () => {},
        wait: ms => waitForWake(client, ms),
        leave: () => leave(client),
      }
      clients.add(client)
      addToCount(newClient.accountId, 1)
      streamClients.inc({ stream: newClient.stream })
      return client
    },
    wakeAll() {
      for (const client of clients) client.wake()
    },
    /** Closes connections of clients that have not read anything for that long. */
    endStuck(stuckMs: number) {
      const limit = performance.now() - stuckMs
      for (const client of clients) if ((client.pendingSince ?? limit) < limit) client.end()
    },
    endAll() {
      for (const client of clients) client.end()
    },
  }
}

function waitForWake(client: Registered, ms: number): Promise<void> {
  if (client.hasLeft || ms <= 0) return Promise.resolve()
  return new Promise(resolve => {
    const wake = () => {
      clearTimeout(timer)
      client.wake = () => {}
      resolve()
    }
    const timer = setTimeout(wake, ms)
    client.wake = wake
  })
}
