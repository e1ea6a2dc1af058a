// Response body with a size limit, before and after decompression.
import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createInflate } from 'node:zlib'
import { SourceFailure } from '../failure.ts'

/** Throws SourceFailure `too_large` as soon as the limit is exceeded, and errors of the stream. */
export async function readBody(
  response: IncomingMessage,
  host: string,
  maxBytes: number,
): Promise<Buffer> {
  if (Number(response.headers['content-length']) > maxBytes) throw tooLarge(host, maxBytes)
  const chunks: Buffer[] = []
  const collect = async (body: AsyncIterable<Buffer>) => {
    let size = 0
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(host, maxBytes)
      chunks.push(chunk)
    }
  }
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity') await pipeline(response, collect)
  else if (encoding === 'gzip' || encoding === 'x-gzip')
    await pipeline(response, createGunzip(), collect)
  else if (encoding === 'deflate') await pipeline(response, createInflate(), collect)
  else throw new SourceFailure(`${host} answers in an unknown encoding`, 'invalid')
  return Buffer.concat(chunks)
}

const tooLarge = (host: string, maxBytes: number) =>
  new SourceFailure(
    `The answer of ${host} has more than ${Math.round(maxBytes / 1024 / 1024)} MiB`,
    'too_large',
  )
