// Event stream of the server: one connection for all views of a tab, with its state for the connection banner.
import { computed, effect, signal } from '@preact/signals'
import { mediaUrl } from './address.ts'
import { accessToken, isSignedIn, loadAccount } from './session.ts'

const lostStreams = signal<ReadonlySet<string>>(new Set())
/** `lost`: a stream that a view needs ended, and is being opened again. */
export const connection = computed(() => (lostStreams.value.size > 0 ? 'lost' : 'connected'))

function setLost(path: string, isLost: boolean) {
  if (lostStreams.value.has(path) === isLost) return
  const others = [...lostStreams.value].filter(other => other !== path)
  lostStreams.value = new Set(isLost ? [...others, path] : others)
}

type StreamEvent = Record<string, unknown> & { type: string }
type Listener = (event: StreamEvent) => void
type StreamName = 'events' | 'scans' | 'tasks'

const minRetryMs = 1_000
const maxRetryMs = 10_000
// A browser has six connections to a server over HTTP/1.1, and tabs in the background need none.
const hiddenMs = 60_000

/**
 * Calls the listener with each event of the stream, as `{type, …}` with the members of the event, until the returned
 * function is called. A `resync` event stands for missed events: load everything again. `opened` comes whenever the stream
 * begins: what has progressed between a request and it was in neither.
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
  events: createStream('/events/stream'),
  scans: createStream('/scans/stream'),
  tasks: createStream('/tasks/stream'),
}

function createStream(path: string) {
  const listeners = new Set<Listener>()
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  let retryMs = minRetryMs
  let lastEventId = ''
  let hideTimer: ReturnType<typeof setTimeout> | undefined
  let isHidden = document.visibilityState === 'hidden'

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
    // The stream is authenticated by the cookie, which is as old as the token. After an error the session may
    // have ended, which loading the account finds out.
    const isReopened = lostStreams.value.has(path)
    await (isReopened ? loadAccount() : accessToken()).catch(() => {})
    if (!isWanted() || source) return
    const query = { unnamed: 'true', lastEventId: lastEventId || undefined }
    const opened = new EventSource(mediaUrl(path, query))
    source = opened
    opened.onopen = () => {
      retryMs = minRetryMs
      setLost(path, false)
      notify({ type: 'opened' })
    }
    opened.onmessage = message => {
      if (message.lastEventId) lastEventId = message.lastEventId
      notify(JSON.parse(message.data))
    }
    // Reopened by ourselves: the browser gives up after an error response, and does not renew the cookie.
    opened.onerror = () => {
      if (source !== opened) return
      setLost(path, true)
      close()
      retry = setTimeout(open, retryMs * (0.7 + 0.6 * Math.random()))
      retryMs = Math.min(maxRetryMs, retryMs * 2)
    }
  }
  const isWanted = () => listeners.size > 0 && isSignedIn.value && !isHidden
  function update() {
    if (!isWanted()) {
      close()
      setLost(path, false)
    } else if (!source && retry === undefined) void open()
  }
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hideTimer)
    if (document.visibilityState === 'hidden')
      hideTimer = setTimeout(() => {
        isHidden = true
        update()
      }, hiddenMs)
    else {
      isHidden = false
      retryMs = minRetryMs
      update()
    }
  })
  // A connection without data does not end by itself when the network does.
  addEventListener('offline', () => {
    if (!source) return
    close()
    void open()
  })
  addEventListener('online', () => {
    if (isWanted() && !source) void open()
  })
  effect(() => {
    if (!isSignedIn.value) lastEventId = ''
    update()
  })
  return { listeners, update }
}
