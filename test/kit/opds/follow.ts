// Follows one link as reading apps do, and says what is wrong with the answer.

import { readXml } from './atom.ts'
import type { Document } from './document.ts'
import { readJson } from './json.ts'
import { type Errand, essence } from './link-kind.ts'

export type Answer = { status: number; headers: Headers; body: Buffer }
export type Ask = (
  url: string,
  asking?: { method?: string; headers?: Record<string, string> },
) => Promise<Answer>
export type Complain = (problem: string) => void

/** What is read of a file at most. */
const wholeBytes = 256 * 1024

export async function follow(
  errand: Errand,
  ask: Ask,
  complain: Complain,
): Promise<Document | null> {
  if (errand.what === 'document') return await document(errand, ask, complain)
  if (errand.what === 'stream') await stream(errand, ask, complain)
  else if (errand.what === 'file') await file(errand, ask, complain)
  else await bytes(errand, ask, complain)
  return null
}

async function document({ url, link }: Errand, ask: Ask, complain: Complain) {
  const { status, headers, body } = await ask(url)
  if (status === 204 && essence(link?.type ?? '').includes('progression')) return null
  if (status !== 200) {
    complain(`answers ${status}`)
    return null
  }
  const type = essence(headers.get('content-type'))
  if (link && link.type !== '' && essence(link.type) !== type)
    complain(`is ${type} where ${link.type} was said`)
  try {
    return type.endsWith('json') ? readJson(body.toString()) : readXml(body.toString())
  } catch (error) {
    complain(`cannot be read: ${(error as Error).message}`)
    return null
  }
}

/** A page of a book, a cover, a part of an EPUB. */
async function bytes({ url, link, what }: Errand, ask: Ask, complain: Complain) {
  const { status, headers, body } = await ask(url)
  if (status !== 200) return complain(`answers ${status}`)
  const type = essence(headers.get('content-type'))
  const said = essence(link?.type ?? '')
  if (said !== '' && type !== said) complain(`is ${type} where ${said} was said`)
  if (what === 'image' && type !== 'image/jpeg') complain(`is ${type}, not image/jpeg`)
  if (!looksLike(body, type)) complain(`does not look like ${type}`)
}

/** Reads the end of it, as one that was interrupted. */
async function file({ url, link }: Errand, ask: Ask, complain: Complain) {
  if (!/\.(?:cb[z7rt]|zip|rar|7z|tar|epub|pdf)$/i.test(new URL(url).pathname))
    complain('has no extension that apps know')
  const head = await ask(url, { method: 'HEAD' })
  if (head.status !== 200) return complain(`answers ${head.status} to HEAD`)
  const length = Number(head.headers.get('content-length'))
  if (link?.length != null && link.length !== length)
    complain(`has ${length} bytes where ${link.length} were said`)
  const said = essence(link?.type ?? '')
  if (said !== essence(head.headers.get('content-type')))
    complain(`is ${head.headers.get('content-type')} where ${said} was said`)
  if (length === 0) return
  const range = `${length - Math.ceil(Math.min(length, wholeBytes) / 2)}-${length - 1}`
  const part = await ask(url, { headers: { range: `bytes=${range}` } })
  if (part.status !== 206) return complain(`answers ${part.status} to a range`)
  if (part.headers.get('content-range') !== `bytes ${range}/${length}`)
    complain(`says ${part.headers.get('content-range')} for bytes ${range} of ${length}`)
  if (part.headers.get('etag') !== head.headers.get('etag')) complain('has another tag in parts')
}

async function stream({ url, link }: Errand, ask: Ask, complain: Complain) {
  if (url.split('{pageNumber}').length !== 2) complain('has not one {pageNumber}')
  const { count } = link!.pages!
  const at = (page: number, width = '64') =>
    url.replace('{pageNumber}', String(page)).replace('{maxWidth}', width)
  for (const page of new Set([at(0), at(count - 1), at(0, '{maxWidth}')])) {
    const { status, headers, body } = await ask(page)
    const type = essence(headers.get('content-type'))
    if (status !== 200) complain(`${page} answers ${status}`)
    else if (type !== link!.type) complain(`${page} is ${type} where ${link!.type} was said`)
    else if (!looksLike(body, type)) complain(`${page} does not look like ${type}`)
  }
  const beyond = await ask(at(count))
  if (beyond.status !== 404) complain(`page ${count} of ${count} answers ${beyond.status}`)
}

const beginnings: Record<string, string> = {
  'image/jpeg': 'ffd8ff',
  'image/png': '89504e47',
  'image/gif': '47494638',
  'image/webp': '52494646',
}

function looksLike(body: Buffer, type: string): boolean {
  const beginning = beginnings[type]
  return beginning === undefined || body.toString('hex', 0, beginning.length / 2) === beginning
}
