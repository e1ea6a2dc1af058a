// HTTP checks that reading apps depend on beside following links: HEAD equals GET, downloads can be
// resumed, requests without credentials get a Basic challenge.

import type { HttpResponse, Report, SendRequest } from './follow.ts'
import { essence } from './link-kind.ts'

const isPublic = /^application\/(?:opensearchdescription\+xml|opds-authentication\+json)$/

/** `sendAnonymously` sends no credentials. */
export async function checkEntryPoint(
  url: string,
  {
    send,
    sendAnonymously,
    report,
  }: { send: SendRequest; sendAnonymously: SendRequest; report: Report },
) {
  const get = await send(url)
  const head = await send(url, { method: 'HEAD' })
  compareHead(get, head, report)
  await checkRanges(url, get, send, report)
  const { status, headers } = await sendAnonymously(url)
  if (isPublic.test(essence(get.headers.get('content-type')))) {
    if (status !== 200) report(`has status ${status} without credentials`)
    return
  }
  if (status !== 401) return report(`has status ${status} without credentials`)
  if (!/^Basic realm="[^"]+"/.test(headers.get('www-authenticate') ?? ''))
    report('has no Basic challenge')
  if (!(headers.get('link') ?? '').includes('http://opds-spec.org/auth/document'))
    report('has no link to the authentication document')
  const isJson = essence(headers.get('content-type')) === 'application/opds-authentication+json'
  if (new URL(url).pathname.includes('/opds/v2') && !isJson)
    report('does not send the authentication document without credentials')
}

function compareHead(get: HttpResponse, head: HttpResponse, report: Report) {
  if (head.status !== get.status) report(`HEAD has status ${head.status}, GET ${get.status}`)
  if (head.body.length > 0) report('has a body for HEAD')
  for (const name of ['content-type', 'content-length', 'etag', 'content-disposition'])
    if (head.headers.get(name) !== get.headers.get(name))
      report(`HEAD: ${name} ${head.headers.get(name)}, GET: ${get.headers.get(name)}`)
}

/** Both halves together equal the whole, where ranges are supported. */
async function checkRanges(
  url: string,
  { body, headers }: HttpResponse,
  send: SendRequest,
  report: Report,
) {
  if (headers.get('accept-ranges') !== 'bytes' || body.length < 2) return
  const middle = Math.floor(body.length / 2)
  const ranges = [`0-${middle - 1}`, `${middle}-`]
  const parts = await Promise.all(
    ranges.map(range => send(url, { headers: { range: `bytes=${range}` } })),
  )
  if (!Buffer.concat(parts.map(part => part.body)).equals(body))
    report('differs when requested in two ranges')
}

/** The URL without ids and query values: equal for URLs of one route. */
export const urlPattern = (url: string): string =>
  url
    .replace(/[\da-f]{8}-[\da-f-]{27}/g, '*')
    .replace(/\/file\/[^?]+/, '/file/*')
    .replace(/\/resource\/[^?]+/, '/resource/*')
    .replace(/\/pages\/\d+/, '/pages/*')
    .replace(/=[^&]*/g, '=')
