// HTTP checks for one link of an OPDS document: status, media type, length, ranges, page templates.

import { readXml } from './atom.ts'
import type { Document } from './document.ts'
import { readJson } from './json.ts'
import { essence, type FollowedLink } from './link-kind.ts'

export type HttpResponse = { status: number; headers: Headers; body: Buffer }
export type SendRequest = (
  url: string,
  options?: { method?: string; headers?: Record<string, string> },
) => Promise<HttpResponse>
export type Report = (problem: string) => void

const maxFileBytes = 256 * 1024

/** Requests what the link leads to and reports what is wrong with the response; returns documents. */
export async function follow(
  link: FollowedLink,
  send: SendRequest,
  report: Report,
): Promise<Document | null> {
  if (link.kind === 'document') return await checkDocument(link, send, report)
  if (link.kind === 'stream') await checkPageStream(link, send, report)
  else if (link.kind === 'file') await checkFile(link, send, report)
  else await checkBytes(link, send, report)
  return null
}

async function checkDocument({ url, link }: FollowedLink, send: SendRequest, report: Report) {
  const { status, headers, body } = await send(url)
  if (status === 204 && essence(link?.type ?? '').includes('progression')) return null
  if (status !== 200) {
    report(`has status ${status}`)
    return null
  }
  const type = essence(headers.get('content-type'))
  if (link && link.type !== '' && essence(link.type) !== type)
    report(`is ${type}, but the link has type ${link.type}`)
  try {
    return type.endsWith('json') ? readJson(body.toString()) : readXml(body.toString())
  } catch (error) {
    report(`cannot be parsed: ${(error as Error).message}`)
    return null
  }
}

/** A page of a book, a cover, a resource of an EPUB. */
async function checkBytes({ url, link, kind }: FollowedLink, send: SendRequest, report: Report) {
  const { status, headers, body } = await send(url)
  if (status !== 200) return report(`has status ${status}`)
  const type = essence(headers.get('content-type'))
  const declaredType = essence(link?.type ?? '')
  if (declaredType !== '' && type !== declaredType)
    report(`is ${type}, but the link has type ${declaredType}`)
  if (kind === 'image' && type !== 'image/jpeg') report(`is ${type}, not image/jpeg`)
  if (!hasSignature(body, type)) report(`does not start like ${type}`)
}

/** Requests the end of the file only, as an interrupted download does. */
async function checkFile({ url, link }: FollowedLink, send: SendRequest, report: Report) {
  if (!/\.(?:cb[z7rt]|zip|rar|7z|tar|epub|pdf)$/i.test(new URL(url).pathname))
    report('has no extension known to reading apps')
  const head = await send(url, { method: 'HEAD' })
  if (head.status !== 200) return report(`has status ${head.status} for HEAD`)
  const length = Number(head.headers.get('content-length'))
  if (link?.length != null && link.length !== length)
    report(`has ${length} bytes, but the link has length ${link.length}`)
  const declaredType = essence(link?.type ?? '')
  if (declaredType !== essence(head.headers.get('content-type')))
    report(`is ${head.headers.get('content-type')}, but the link has type ${declaredType}`)
  if (length === 0) return
  const range = `${length - Math.ceil(Math.min(length, maxFileBytes) / 2)}-${length - 1}`
  const part = await send(url, { headers: { range: `bytes=${range}` } })
  if (part.status !== 206) return report(`has status ${part.status} for a range`)
  if (part.headers.get('content-range') !== `bytes ${range}/${length}`)
    report(`has range ${part.headers.get('content-range')} for bytes ${range} of ${length}`)
  if (part.headers.get('etag') !== head.headers.get('etag')) report('has another ETag for a range')
}

async function checkPageStream({ url, link }: FollowedLink, send: SendRequest, report: Report) {
  if (url.split('{pageNumber}').length !== 2) report('does not contain {pageNumber} exactly once')
  const { count } = link!.pages!
  const pageUrl = (page: number, width = '64') =>
    url.replace('{pageNumber}', String(page)).replace('{maxWidth}', width)
  for (const page of new Set([pageUrl(0), pageUrl(count - 1), pageUrl(0, '{maxWidth}')])) {
    const { status, headers, body } = await send(page)
    const type = essence(headers.get('content-type'))
    if (status !== 200) report(`${page} has status ${status}`)
    else if (type !== link!.type) report(`${page} is ${type}, but the link has type ${link!.type}`)
    else if (!hasSignature(body, type)) report(`${page} does not start like ${type}`)
  }
  const beyond = await send(pageUrl(count))
  if (beyond.status !== 404) report(`page ${count} of ${count} has status ${beyond.status}`)
}

const signatures: Record<string, string> = {
  'image/jpeg': 'ffd8ff',
  'image/png': '89504e47',
  'image/gif': '47494638',
  'image/webp': '52494646',
}

function hasSignature(body: Buffer, type: string): boolean {
  const signature = signatures[type]
  return signature === undefined || body.toString('hex', 0, signature.length / 2) === signature
}
