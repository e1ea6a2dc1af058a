// File download: the unmodified file of a book, whole or a byte range (RFC 9110), with its own name.
import type { Readable } from 'node:stream'
import { encodeExtended } from 'content-disposition'
import type { FileAccess } from '../base/containment.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import { type FormatName, formatNamed } from '../media/format/formats.ts'
import { folderOf, mountKey } from '../store/mount/mount-health.ts'
import { openBookFile } from './book-content.ts'
import { closeInBackground, streamRange } from './file-body.ts'
import { evaluateRequest, fileEtag, type RequestHeaders } from './range.ts'

/** `body` is null if the status or the method has none; destroying the stream closes its file. */
type FileResponse = {
  status: 200 | 206 | 304 | 412 | 416
  headers: Record<string, string>
  body: Readable | null
}

/** The Content-Type of a book's file. */
export const mediaTypeOf = (format: FormatName | null): string =>
  format === null ? 'application/octet-stream' : formatNamed(format).mediaType

/** The response to GET or HEAD. Throws NotFound and Unreadable like `openBookFile`. */
export async function fileResponse(
  book: BookFile,
  access: FileAccess,
  { method, headers: requestHeaders }: { method: string; headers: RequestHeaders },
  mediaType = mediaTypeOf(book.format),
): Promise<FileResponse> {
  const { fd, stats } = await openBookFile(book, access)
  let isStreaming = false
  try {
    const version = { id: book.id, size: stats.size, modifiedMs: Math.round(stats.mtimeMs) }
    const etag = fileEtag(version)
    const decision = evaluateRequest({ method, headers: requestHeaders }, { ...version, etag })
    const { status } = decision
    const common = {
      ETag: etag,
      'Last-Modified': new Date(version.modifiedMs).toUTCString(),
      'Accept-Ranges': 'bytes',
    }
    if (status === 304 || status === 412) return { status, headers: common, body: null }
    if (status === 416) {
      const headers = { ...common, 'Content-Range': `bytes */${version.size}` }
      return { status, headers, body: null }
    }
    const range = status === 206 ? decision.range : { start: 0, end: version.size - 1 }
    const length = range.end - range.start + 1
    const headers: Record<string, string> = {
      ...common,
      'Content-Type': mediaType,
      'Content-Length': String(length),
      'Content-Disposition': attachment(book.name, book.id),
      'X-Content-Type-Options': 'nosniff',
    }
    if (status === 206)
      headers['Content-Range'] = `bytes ${range.start}-${range.end}/${version.size}`
    if (method === 'HEAD') return { status, headers, body: null }
    isStreaming = true
    return {
      status,
      headers,
      body: streamRange(fd, {
        start: range.start,
        length,
        root: mountKey(book.root),
        folder: folderOf(book.path),
      }),
    }
  } finally {
    if (!isStreaming) closeInBackground(fd)
  }
}

/**
 * The Content-Disposition header (RFC 6266) for a file called `name`: exact in `filename*`, and plain ASCII in `filename` for
 * clients that ignore that, such as KOReader. The plain name is always quoted and contains nothing that must be
 * escaped or that simple parsers split at. If letters are lost, the end of `id` (a UUID) distinguishes files.
 */
export function attachment(name: string, id: string): string {
  const exactName = name.toWellFormed()
  const asciiName = asciiFileName(exactName, id)
  const extended = asciiName === exactName ? '' : `; filename*=${encodeExtended(exactName)}`
  return `attachment; filename="${asciiName}"${extended}`
}

const maxExtensionLength = 8

function asciiFileName(name: string, id: string): string {
  const dot = name.lastIndexOf('.')
  const hasExtension = dot > 0 && name.length - dot <= maxExtensionLength
  const stem = toAscii(hasExtension ? name.slice(0, dot) : name)
  const extension = hasExtension ? toAscii(name.slice(dot)).text : ''
  // The last digits of a UUIDv7 are random; the first ones are a timestamp.
  return `${stem.text}${stem.isLossy ? ` [${id.slice(-8)}]` : ''}${extension}`
}

function toAscii(text: string) {
  const unaccented = text.normalize('NFKD').replace(/\p{Mark}/gu, '')
  return {
    text: unaccented.replace(/[^\x20-\x7e]/gu, '_').replace(/["\\;]|%(?=[\da-f]{2})/gi, '_'),
    isLossy: /[^\p{ASCII}]/u.test(unaccented),
  }
}
