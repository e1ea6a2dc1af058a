// Upload of a cover or a list, held in memory: one file in a multipart body, or XML as the body. A few run at a time; the others wait unread.
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { createAccountGates } from '../../../base/async/account-gates.ts'
import { createSemaphore } from '../../../base/async/semaphore.ts'
import { Invalid, TooLarge, UnsupportedMedia } from '../../../base/errors.ts'

/** Concurrent uploads in this process: each takes several times the size of its image. */
const maxUploads = 2
/** Uploads of an account that may wait for another one of the same account. */
export const maxWaitingUploads = 20
/** How long a client may take to send the body; it is limited because others wait. */
const timeoutMs = 120_000

const ofAccount = createAccountGates({
  running: 1,
  waiting: maxWaitingUploads,
  message: 'Too many files are being uploaded at the same time',
})
const ofProcess = createSemaphore({ slots: maxUploads })

/** Text parts of the form. */
type Fields = ReadonlyMap<string, string>

type UploadRequest = {
  request: FastifyRequest
  accountId: string
  signal: AbortSignal
  /** Size limit of a file sent as the body itself, where the route accepts XML. */
  maxBodyBytes?: number
}

/**
 * Reads the image and passes it to `work`: one upload per account at a time. Throws RateLimited, Invalid,
 * UnsupportedMedia; too large is 413.
 */
export function withUpload<T>(
  { request, accountId, signal, maxBodyBytes }: UploadRequest,
  work: (image: Buffer, fields: Fields) => Promise<T>,
): Promise<T> {
  const body = maxBodyBytes !== undefined && request.body instanceof Readable ? request.body : null
  const read = async () =>
    body
      ? { image: await readBody(body, maxBodyBytes!), fields: new Map() }
      : await readParts(request)
  if (!body && !request.isMultipart())
    throw new UnsupportedMedia('The body must be multipart/form-data')
  return ofAccount(accountId, signal, () =>
    ofProcess.run(
      async () => {
        const { image, fields } = await readInTime(request, read)
        return await work(image, fields)
      },
      { signal },
    ),
  )
}

async function readInTime<T>(request: FastifyRequest, read: () => Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Invalid(`The upload took longer than ${timeoutMs / 1000} seconds`))
    // After the response, because the rest of the body would still be read.
    setTimeout(() => request.raw.destroy(), 1_000).unref()
  }, timeoutMs)
  try {
    return await Promise.race([read(), tooLate])
  } finally {
    clearTimeout(timer)
  }
}

async function readBody(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  // The connection must stay open for the response.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    length += (chunk as Buffer).length
    if (length > maxBytes) {
      body.resume()
      throw new TooLarge('The file is too large', { reason: 'file_too_large' })
    }
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

const partNames = new Set(['file', 'cover', 'image'])

async function readParts(request: FastifyRequest): Promise<{ image: Buffer; fields: Fields }> {
  let image: Buffer | null = null
  const fields = new Map<string, string>()
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') fields.set(part.fieldname, String(part.value))
      else if (partNames.has(part.fieldname)) image = await part.toBuffer()
      else part.file.resume()
    }
  } catch (error) {
    // Errors of the parser itself have no status: they mean that the body is malformed.
    if ((error as { statusCode?: number }).statusCode) throw error
    throw new Invalid('The body is not valid multipart/form-data', { cause: error })
  }
  if (image === null || image.length === 0)
    throw new Invalid('The body has no file as part `file`, `cover` or `image`')
  return { image, fields }
}
