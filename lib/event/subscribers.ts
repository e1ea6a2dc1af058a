// Who listens in this process: how many for each account, who waits for news, who does not take
// what is offered.
import { Limited } from '../errors.ts'
import { streamClients } from '../metrics/streams.ts'
import type { Stream } from './event-rows.ts'

type Joining = {
  accountId: string
  stream: Stream
  /** Breaks the connection off. */
  end: () => void
}

/** One client of a stream. `offeredAt`: since when it takes what it was given, in ms of performance.now(); null while it waits. */
export type Listener = {
  offeredAt: number | null
  hasLeft: boolean
  /** Resolves at news, when time is up, and when the listener leaves. */
  wait(ms: number): Promise<void>
  leave(): void
}
type Known = Listener & Joining & { wake: () => void }

const mostOfAccount = 500
const retrySeconds = 30

/** `onEmpty` is called when the last one leaves. */
export function openListeners(onEmpty: () => void) {
  const here = new Set<Known>()
  const byAccount = new Map<string, number>()

  function count(accountId: string, by: number) {
    const left = (byAccount.get(accountId) ?? 0) + by
    if (left > 0) byAccount.set(accountId, left)
    else byAccount.delete(accountId)
  }

  function leave(listener: Known) {
    if (!here.delete(listener)) return
    listener.hasLeft = true
    count(listener.accountId, -1)
    streamClients.dec({ stream: listener.stream })
    listener.wake()
    if (here.size === 0) onEmpty()
  }

  return {
    size: () => here.size,
    /** Throws Limited when the account has too many. */
    add(joining: Joining): Listener {
      if ((byAccount.get(joining.accountId) ?? 0) >= mostOfAccount)
        throw new Limited('Too many streams are open for this account', retrySeconds)
      const listener: Known = {
        ...joining,
        offeredAt: null,
        hasLeft: false,
        wake: () => {},
        wait: ms => waiting(listener, ms),
        leave: () => leave(listener),
      }
      here.add(listener)
      count(joining.accountId, 1)
      streamClients.inc({ stream: joining.stream })
      return listener
    },
    wakeAll() {
      for (const listener of here) listener.wake()
    },
    /** Breaks off those that took nothing for so long. */
    endStuck(forMs: number) {
      const since = performance.now() - forMs
      for (const listener of here) if ((listener.offeredAt ?? since) < since) listener.end()
    },
    endAll() {
      for (const listener of here) listener.end()
    },
  }
}

function waiting(listener: Known, ms: number): Promise<void> {
  if (listener.hasLeft || ms <= 0) return Promise.resolve()
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      listener.wake = () => {}
      resolve()
    }
    const timer = setTimeout(done, ms)
    listener.wake = done
  })
}
