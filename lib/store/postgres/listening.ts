// Notifications (LISTEN) of a pool: one connection for all channels, reestablished after every loss.
import { setTimeout as sleep } from 'node:timers/promises'
import { type DriverOptions, postgres } from './driver.ts'

type Listener = { channel: string; onNotify: (payload: string) => void; onListen?: () => void }

const retryMs = 250

/**
 * Replaces the driver's `listen`, which gives up if the server is unreachable for longer than one attempt.
 * `onListen` is called first, and after every loss, during which notifications may have been missed.
 */
export function createListening(options: DriverOptions) {
  const listeners = new Set<Listener>()
  let connection: ReturnType<typeof postgres> | null = null
  let isRestoring = false
  let isClosed = false

  const open = () =>
    (connection ??= postgres({
      ...options,
      max: 1,
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      onclose: () => void restore(),
      onnotify(channel: string, payload: string) {
        for (const l of listeners) if (l.channel === channel) l.onNotify(payload)
      },
    } as DriverOptions))

  // Failed attempts count as losses too: only one of these loops may run.
  async function restore() {
    if (isRestoring || isClosed || listeners.size === 0) return
    isRestoring = true
    for (;;) {
      const channels = [...new Set([...listeners].map(l => `listen ${quoted(l.channel)}`))]
      try {
        await open().unsafe(channels.join(';')).simple()
        break
      } catch {
        await sleep(retryMs, undefined, { ref: false })
      }
      if (isClosed) return
    }
    isRestoring = false
    for (const l of [...listeners]) l.onListen?.()
  }

  return {
    async listen(channel: string, onNotify: (payload: string) => void, onListen?: () => void) {
      const listener: Listener = { channel, onNotify, ...(onListen ? { onListen } : {}) }
      listeners.add(listener)
      try {
        await open().unsafe(`listen ${quoted(channel)}`)
      } catch (error) {
        listeners.delete(listener)
        throw error
      }
      onListen?.()
      return {
        /** Never waits for the server: nothing is delivered from now on. */
        async unlisten() {
          if (!listeners.delete(listener)) return
          if ([...listeners].some(l => l.channel === channel)) return
          open()
            .unsafe(`unlisten ${quoted(channel)}`)
            .catch(() => {})
        },
      }
    },
    async close() {
      isClosed = true
      await connection?.end({ timeout: 0 })
    },
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
