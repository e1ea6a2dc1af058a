// Connection to a plugin: a call starts its process, which is stopped when idle, and restarted with a growing pause
// after it died.
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKeyedMutex } from '../../base/async/keyed-mutex.ts'
import { version } from '../../base/version.ts'
import { SourceFailure } from '../failure.ts'
import { type Session, type SessionOptions, startSession } from './session.ts'

export type PluginOptions = Omit<SessionOptions, 'onEnd'> & {
  settings: object
  pace?: Partial<Pace> | undefined
}

/** Times, shortened in tests. */
export type Pace = { idleMs: number; restartMs: number }

const defaultPace: Pace = { idleMs: 60_000, restartMs: 1_000 }
const maxRestartMs = 300_000
/** How long a call waits for a restart. */
const maxWaitMs = 3_000
const protocol = 1

export type PluginConnection = ReturnType<typeof openConnection>

export function openConnection(options: PluginOptions) {
  const { name, folder, settings, credentials } = options
  const pace = { ...defaultPace, ...options.pace }
  const inTurn = createKeyedMutex()
  let session: Session | null = null
  /** Since the last success. */
  let deaths = 0
  let startAt = 0
  let idleTimer: NodeJS.Timeout | undefined

  function onEnd() {
    deaths++
    startAt = Date.now() + Math.min(maxRestartMs, pace.restartMs * 2 ** (deaths - 1))
  }

  async function start(signal: AbortSignal): Promise<Session> {
    const waitMs = startAt - Date.now()
    if (waitMs > maxWaitMs)
      throw new SourceFailure(`${name} died several times and will be restarted later`, 'limited', {
        retryAt: new Date(startAt),
      })
    if (waitMs > 0) await sleep(waitMs, undefined, { signal })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const started = startSession({ ...options, onEnd })
    session = started
    try {
      const host = { name: 'Stackroom', version }
      await started.call('initialize', { protocol, host, settings, credentials }, signal)
    } catch (error) {
      started.kill(new SourceFailure(`${name} could not be started`, 'unreachable'))
      throw error
    }
    return started
  }

  async function stop() {
    clearTimeout(idleTimer)
    const stopped = session
    session = null
    await stopped?.stop()
  }

  return {
    /** Runs calls one after another. Throws SourceFailure, or the signal's reason. */
    call: (method: string, params: object, signal: AbortSignal): Promise<unknown> =>
      inTurn('call', async () => {
        signal.throwIfAborted()
        clearTimeout(idleTimer)
        try {
          const alive = session?.isAlive() ? session : await start(signal)
          const result = await alive.call(method, params, signal)
          deaths = 0
          return result
        } finally {
          idleTimer = setTimeout(stop, pace.idleMs).unref()
        }
      }),
    stop,
  }
}
