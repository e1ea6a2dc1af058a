// A book's file as it is, whole or in part (RFC 9110), under its own name (RFC 6266).
import type { Readable } from 'node:stream'
import type { BookFile } from '../catalog/book/book-file.ts'
import type { FormatName } from '../format/contract.ts'
import { fileTag } from '../page/etag.ts'
import { attachment } from './attachment.ts'
import { closeSoon, openForAnswer, statOpen, streamSpan } from './file-body.ts'
import { checkInside } from './path-containment.ts'
import { decide, type RequestHeaders } from './range.ts'

/** `body` is null where the status or the method has none; a stream closes its file when it is destroyed. */
export type FileAnswer = {
  status: 200 | 206 | 304 | 412 | 416
  headers: Record<string, string>
  body: Readable | null
}

const mediaTypes: Record<FormatName, string> = {
  cbz: 'application/zip',
  cbr: 'application/x-rar-compressed',
  cb7: 'application/x-7z-compressed',
  cbt: 'application/x-tar',
  epub: 'application/epub+zip',
  pdf: 'application/pdf',
}

/** The media type that a book's file is sent as. */
export const mediaTypeOf = (format: FormatName | null): string =>
  format === null ? 'application/octet-stream' : mediaTypes[format]

type Request = { method: string; headers: RequestHeaders }

/** Answers GET and HEAD. Throws NotFound when the file is not there, Unreadable `io`. */
export async function answerFile(
  book: BookFile,
  { method, headers }: Request,
  mediaType = mediaTypeOf(book.format),
): Promise<FileAnswer> {
  await checkInside(book.root, book.path)
  const fd = await openForAnswer(book.path)
  let isOurs = true
  try {
    const stat = await statOpen(fd)
    const version = { id: book.id, size: stat.size, modifiedMs: Math.round(stat.mtimeMs) }
    const tag = fileTag(version)
    const decision = decide({ method, headers }, { ...version, tag })
    const { status } = decision
    const common = {
      ETag: tag,
      'Last-Modified': new Date(version.modifiedMs).toUTCString(),
      'Accept-Ranges': 'bytes',
    }
    if (status === 304 || status === 412) return { status, headers: common, body: null }
    if (status === 416) {
      const unsatisfied = { ...common, 'Content-Range': `bytes */${version.size}` }
      return { status, headers: unsatisfied, body: null }
    }
    const part = status === 206 ? decision.part : { start: 0, end: version.size - 1 }
    const length = part.end - part.start + 1
    const sent: Record<string, string> = {
      ...common,
      'Content-Type': mediaType,
      'Content-Length': String(length),
      'Content-Disposition': attachment(book.name, book.id),
      'X-Content-Type-Options': 'nosniff',
    }
    if (status === 206) sent['Content-Range'] = `bytes ${part.start}-${part.end}/${version.size}`
    if (method === 'HEAD') return { status, headers: sent, body: null }
    isOurs = false
    return { status, headers: sent, body: streamSpan(fd, part.start, length) }
  } finally {
    if (isOurs) closeSoon(fd)
  }
}
