// One HTTP exchange with a timeout for each step: up to the response headers, and its body with a size limit.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createGunzip, createInflate } from 'node:zlib'
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
  /** Body of a POST request. */
  json: string | undefined
  guard: Guard
  limits: Limits
  signal: AbortSignal
}

/** Resolves with the response as soon as its headers arrive; `idleMs` applies to its body. */
export function openResponse(
  url: URL,
  { headers, json, guard, limits, signal }: Exchange,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const connected = url.protocol === 'https:' ? 'secureConnect' : 'connect'
  return new Promise((resolve, reject) => {
    // A separate connection, so that each one has been checked by `lookup`.
    const method = json === undefined ? 'GET' : 'POST'
    const request = send(url, { agent: false, lookup: guard.lookup, method, headers, signal })
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
    request.end(json)
  })
}

const decoders: Record<string, typeof createGunzip | typeof createInflate> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
}

/** Throws SourceFailure `too_large` as soon as the limit is exceeded, and stream errors. */
export async function readBody(response: IncomingMessage, host: string, maxBytes: number) {
  if (Number(response.headers['content-length']) > maxBytes) throw tooLarge(host, maxBytes)
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() || 'identity'
  const isPlain = encoding === 'identity'
  if (!isPlain && !Object.hasOwn(decoders, encoding))
    throw new SourceFailure(`${host} responded with an unknown encoding`, 'invalid')
  const decoder = isPlain ? null : decoders[encoding]!()
  const content = decoder === null ? response : response.pipe(decoder)
  const chunks: Buffer[] = []
  let size = 0
  try {
    // Not by iteration: leaving the loop early would wait for a decoder that waits for its reader.
    await new Promise<void>((resolve, reject) => {
      content.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxBytes) reject(tooLarge(host, maxBytes))
        else chunks.push(chunk)
      })
      content.on('end', resolve)
      content.on('error', reject)
      response.on('error', reject)
      response.on('close', () => {
        if (!response.complete) reject(new Error('the response is incomplete'))
      })
    })
  } finally {
    response.destroy()
    decoder?.destroy()
  }
  return Buffer.concat(chunks)
}

const tooLarge = (host: string, maxBytes: number) =>
  new SourceFailure(
    `The response of ${host} is larger than ${Math.round(maxBytes / 1024 / 1024)} MiB`,
    'too_large',
  )
