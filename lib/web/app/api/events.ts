// Event stream of the server: one connection for all views of a tab, with its state for the connection banner.
import { computed, effect, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { mediaUrl } from './address.ts'
import { isReachable, singleFlight, untilReachable } from './reachable.ts'
import { accessToken, account, can, isSignedIn, loadAccount, type Permission } from './session.ts'

const lostStreams = signal<ReadonlySet<string>>(new Set())
/** `lost`: the server does not answer, or a stream that a view needs is being reopened. */
export const connection = computed(() =>
  lostStreams.value.size > 0 || !isReachable.value ? 'lost' : 'connected',
)

function setLost(path: string, isLost: boolean) {
  if (lostStreams.value.has(path) === isLost) return
  const others = [...lostStreams.value].filter(other => other !== path)
  lostStreams.value = new Set(isLost ? [...others, path] : others)
}

export type StreamEvent = Record<string, unknown> & { type: string }
type Listener = (event: StreamEvent) => void
type StreamName = 'events' | 'scans' | 'tasks'

const minRetryMs = 1_000
const maxRetryMs = 10_000
// Over HTTP/1.1 a browser has six connections to a server for all tabs, so background tabs hold none.
const hiddenMs = 2_000

/**
 * Calls the listener with each event of the stream, as `{type, …}` with the members of the event, until the returned
 * function is called. A `resync` event stands for missed events: reload everything. `opened` comes whenever the stream
 * begins, because progress between a request and the stream appears in neither.
 */
export function listen(stream: StreamName, listener: Listener): () => void {
  const shared = streams[stream]
  shared.listeners.add(listener)
  shared.update()
  return () => {
    shared.listeners.delete(listener)
    shared.update()
  }
}

const streams = {
  events: createStream('/events/stream', ['LibrariesRead', 'SeriesRead', 'BooksRead']),
  scans: createStream('/scans/stream', ['LibrariesRead']),
  tasks: createStream('/tasks/stream', ['TasksRead', 'LibrariesRead']),
}

/** Shared by all streams. */
const checkAccount = singleFlight(loadAccount)

/** `permissions`: at least one of them is needed. */
function createStream(path: string, permissions: readonly Permission[]) {
  const listeners = new Set<Listener>()
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  let retryMs = minRetryMs
  let lastEventId = ''
  let wasOpened = false
  let isHidden = document.visibilityState === 'hidden'
  let wasHidden = false
  let isOpening = false

  function notify(event: StreamEvent) {
    for (const listener of [...listeners]) listener(event)
  }
  function close() {
    clearTimeout(retry)
    retry = undefined
    source?.close()
    source = null
  }
  async function open() {
    clearTimeout(retry)
    retry = undefined
    if (isOpening) return
    isOpening = true
    const isReopened = lostStreams.value.has(path)
    if (isReopened) await untilReachable()
    // The cookie authenticates the stream and is as old as the token. After an error the session may
    // have ended; loading the account finds out.
    await (isReopened ? checkAccount() : accessToken()).catch(() => {})
    isOpening = false
    if (!isWanted() || source) return
    const query = { unnamed: 'true', lastEventId: lastEventId || undefined }
    const opened = new EventSource(mediaUrl(path, query))
    source = opened
    opened.onopen = () => {
      retryMs = minRetryMs
      setLost(path, false)
      // Before the first event there is no point to resume from, and the account's visible content may have changed
      // while nothing was received.
      const isIncomplete = wasOpened && (lastEventId === '' || wasHidden)
      notify({ type: isIncomplete ? 'resync' : 'opened' })
      wasOpened = true
      wasHidden = false
    }
    opened.onmessage = message => {
      if (message.lastEventId) lastEventId = message.lastEventId
      const event = JSON.parse(message.data)
      // The account's visible content or permissions have changed, so loaded data is no longer valid.
      if (event.type === 'resync' && event.reason === 'account') location.reload()
      else notify(event)
    }
    // Reopened by us: after an error response the browser gives up, and it does not renew the cookie.
    opened.onerror = () => {
      if (source !== opened) return
      setLost(path, true)
      close()
      retry = setTimeout(open, retryMs * (0.7 + 0.6 * Math.random()))
      retryMs = Math.min(maxRetryMs, retryMs * 2)
    }
  }
  const isAllowed = () => account.value === null || permissions.some(can)
  const isWanted = () => listeners.size > 0 && isSignedIn.value && !isHidden && isAllowed()
  function update() {
    if (!isWanted()) {
      close()
      setLost(path, false)
    } else if (!source && retry === undefined) void open()
  }
  onHidden(hidden => {
    isHidden = hidden
    if (hidden) wasHidden = true
    else retryMs = minRetryMs
    update()
  })
  // A silent connection does not end when the network is lost.
  addEventListener('offline', () => {
    if (!source) return
    close()
    void open()
  })
  addEventListener('online', () => {
    if (isWanted() && !source) void open()
  })
  effect(() => {
    if (!isSignedIn.value) {
      lastEventId = ''
      wasOpened = false
    }
    update()
  })
  return { listeners, update }
}

/** Calls `change` when the page has been in the background for a while and when it returns. */
function onHidden(change: (isHidden: boolean) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer)
    if (document.visibilityState === 'visible') change(false)
    else timer = setTimeout(() => change(true), hiddenMs)
  })
}

/** Calls `handle` with each event while the component is shown. */
export function useEvents(stream: StreamName, handle: Listener): void {
  const latest = useRef(handle)
  latest.current = handle
  useEffect(() => listen(stream, event => latest.current(event)), [stream])
}
