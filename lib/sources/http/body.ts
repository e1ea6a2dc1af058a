// Response body with a size limit, before and after decompression.
import type { IncomingMessage } from 'node:http'
import { createGunzip, createInflate } from 'node:zlib'
import { SourceFailure } from '../failure.ts'

const decoders: Record<string, typeof createGunzip | typeof createInflate> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
}

/** Throws SourceFailure `too_large` as soon as the limit is exceeded, and stream errors. */
export async function readBody(
  response: IncomingMessage,
  host: string,
  maxBytes: number,
): Promise<Buffer> {
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
