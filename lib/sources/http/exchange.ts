// One HTTP exchange up to the response headers, with a timeout for each step.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { SourceFailure } from '../failure.ts'
import type { Guard } from './guard.ts'

export type Limits = {
  /** Name resolution, connection and TLS. */
  connectMs: number
  headersMs: number
  /** Between two parts of the body. */
  idleMs: number
  totalMs: number
}

type Exchange = {
  headers: Record<string, string>
  guard: Guard
  limits: Limits
  signal: AbortSignal
}

/** Resolves with the response as soon as its headers arrive; `idleMs` applies to its body. */
export function openResponse(
  url: URL,
  { headers, guard, limits, signal }: Exchange,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const connected = url.protocol === 'https:' ? 'secureConnect' : 'connect'
  return new Promise((resolve, reject) => {
    // A separate connection, so that each one has been checked by `lookup`.
    const request = send(url, { agent: false, lookup: guard.lookup, headers, signal })
    const fail = (what: string) =>
      request.destroy(new SourceFailure(`${url.host} ${what}`, 'timeout'))
    let timer = setTimeout(fail, limits.connectMs, 'cannot be reached in time')
    request.on('socket', socket => {
      socket.once(connected, () => {
        clearTimeout(timer)
        timer = setTimeout(fail, limits.headersMs, 'does not respond in time')
      })
    })
    request.on('response', response => {
      clearTimeout(timer)
      request.setTimeout(limits.idleMs, () => {
        response.destroy(new SourceFailure(`${url.host} stopped responding`, 'timeout'))
      })
      resolve(response)
    })
    request.on('error', error => {
      clearTimeout(timer)
      reject(error)
    })
    request.on('close', () => clearTimeout(timer))
    request.end()
  })
}
