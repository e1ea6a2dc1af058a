// JSON-RPC 2.0 session with one process of a plugin: one message per line, one call at a time.
import type { Log } from '../../base/log.ts'
import { SourceFailure } from '../failure.ts'
import { type Offence, startProcess } from './process.ts'

export type SessionOptions = {
  /** Display name. */
  name: string
  command: readonly string[]
  folder: string
  credentials: Record<string, string>
  timeoutMs: number
  maxMemoryBytes: number
  log: Log
  /** Called when the process died, or was killed for what it did; not after `stop`. */
  onEnd: () => void
}

export type Session = ReturnType<typeof startSession>

const maxLineBytes = 8 * 1024 * 1024
const methodNotFound = -32_601

type Pending = { id: number; resolve: (reply: Reply) => void; reject: (error: Error) => void }
/** Some libraries send a null `error` with each result. */
type Reply = { result?: unknown; error?: ReportedError | null }
type ReportedError = { code?: unknown; message?: unknown; data?: unknown }

export function startSession(options: SessionOptions) {
  const { name, timeoutMs, log, onEnd } = options
  const fail = (what: string, kind: SourceFailure['kind']) =>
    new SourceFailure(`${name} ${what}`, kind)
  let pending: Pending | null = null
  let lastId = 0
  let isOver = false

  const process = startProcess({
    ...options,
    maxLineBytes,
    onLine,
    onError: text => log.debug({ plugin: name, text: publicText(text, options) }, 'plugin output'),
  })
  void process.exited.then(() => end(deathOf(fail, process.offence())))

  function onLine(line: string) {
    const reply = isOver ? null : parseReply(line)
    if (pending && reply?.id === pending.id) pending.resolve(reply)
    // Not an answer to this call: the process is no longer trusted.
    else end(fail('gave an answer that does not belong to the call', 'invalid'))
  }

  function end(failure: SourceFailure) {
    if (isOver) return
    isOver = true
    pending?.reject(failure)
    process.kill()
    onEnd()
  }

  /** Throws SourceFailure, or the signal's reason; an abort ends the process. */
  async function call(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const id = ++lastId
    const time = AbortSignal.timeout(timeoutMs)
    const onTime = () => end(fail('takes too long to respond', 'timeout'))
    const onAbort = () => end(fail('was interrupted', 'unreachable'))
    time.addEventListener('abort', onTime)
    signal.addEventListener('abort', onAbort)
    try {
      const reply = await new Promise<Reply>((resolve, reject) => {
        pending = { id, resolve, reject }
        process.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      })
      const { result = null, error = null } = reply
      if (error !== null) throw reportedFailure(options, error)
      return result
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw error
    } finally {
      pending = null
      time.removeEventListener('abort', onTime)
      signal.removeEventListener('abort', onAbort)
    }
  }

  return {
    isAlive: () => !isOver,
    call,
    kill: end,
    async stop() {
      isOver = true
      pending?.reject(fail('was stopped', 'unreachable'))
      await process.stop()
    },
  }
}

type Fail = (what: string, kind: SourceFailure['kind']) => SourceFailure

function deathOf(fail: Fail, offence: Offence | null): SourceFailure {
  if (offence === 'memory') return fail('uses more memory than allowed', 'too_large')
  if (offence === 'output') return fail('returns more data than allowed', 'too_large')
  return fail('exited unexpectedly', 'unreachable')
}

type Named = Pick<SessionOptions, 'name' | 'credentials'>

/** Same as for a host. */
const maxPauseMs = 24 * 3_600_000

/** An error reported by the plugin; `data.retryAt` is the time of the next call. */
function reportedFailure(options: Named, { code, message, data }: ReportedError): SourceFailure {
  const { name } = options
  if (code === methodNotFound) return new SourceFailure(`${name} does not support this`, 'status')
  const { retryAt: time } = (data ?? {}) as { retryAt?: unknown }
  const date = new Date(typeof time === 'string' ? time : Number.NaN)
  const text = publicText(typeof message === 'string' ? message : 'error', options)
  if (Number.isNaN(date.getTime())) return new SourceFailure(`${name}: ${text}`, 'status')
  const now = Date.now()
  const retryAt = new Date(Math.min(Math.max(date.getTime(), now), now + maxPauseMs))
  return new SourceFailure(`${name}: ${text}`, 'limited', { retryAt })
}

/** One line without credentials. */
function publicText(text: string, { credentials }: Named): string {
  const secrets = Object.values(credentials).filter(value => value.length > 3)
  const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
  return hidden
    .replace(/[\0-\x1f\x7f]+/g, ' ')
    .trim()
    .slice(0, 300)
}

function parseReply(line: string): (Reply & { id: unknown }) | null {
  try {
    const message = JSON.parse(line)
    const isReply = message?.jsonrpc === '2.0' && ('result' in message || 'error' in message)
    return isReply ? message : null
  } catch {
    return null
  }
}
