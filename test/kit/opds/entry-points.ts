// What is asked of some addresses of every sort beside following them: HEAD tells what GET tells, a
// download can be resumed, and who sends no credentials is challenged for them.

import type { Answer, Ask, Complain } from './follow.ts'
import { essence } from './link-kind.ts'

const isPublic = /^application\/(?:opensearchdescription\+xml|opds-authentication\+json)$/

/** `stranger` asks without credentials. */
export async function knock(
  url: string,
  { ask, stranger, complain }: { ask: Ask; stranger: Ask; complain: Complain },
) {
  const got = await ask(url)
  const head = await ask(url, { method: 'HEAD' })
  compare(got, head, complain)
  await resume(url, got, ask, complain)
  const { status, headers } = await stranger(url)
  if (isPublic.test(essence(got.headers.get('content-type')))) {
    if (status !== 200) complain(`answers ${status} to strangers`)
    return
  }
  if (status !== 401) return complain(`answers ${status} without credentials`)
  if (!/^Basic realm="[^"]+"/.test(headers.get('www-authenticate') ?? ''))
    complain('does not challenge for Basic')
  if (!(headers.get('link') ?? '').includes('http://opds-spec.org/auth/document'))
    complain('does not tell strangers of the authentication document')
  const isJson = essence(headers.get('content-type')) === 'application/opds-authentication+json'
  if (new URL(url).pathname.includes('/opds/v2') && !isJson)
    complain('does not answer strangers with the authentication document')
}

function compare(got: Answer, head: Answer, complain: Complain) {
  if (head.status !== got.status)
    complain(`answers ${head.status} to HEAD and ${got.status} to GET`)
  if (head.body.length > 0) complain('has a body for HEAD')
  for (const name of ['content-type', 'content-length', 'etag', 'content-disposition'])
    if (head.headers.get(name) !== got.headers.get(name))
      complain(`HEAD: ${name} ${head.headers.get(name)}, GET: ${got.headers.get(name)}`)
}

/** Two halves are the whole, where halves are answered at all. */
async function resume(url: string, { body, headers }: Answer, ask: Ask, complain: Complain) {
  if (headers.get('accept-ranges') !== 'bytes' || body.length < 2) return
  const middle = Math.floor(body.length / 2)
  const ranges = [`0-${middle - 1}`, `${middle}-`]
  const parts = await Promise.all(
    ranges.map(range => ask(url, { headers: { range: `bytes=${range}` } })),
  )
  if (!Buffer.concat(parts.map(part => part.body)).equals(body)) complain('is not its halves')
}

/** Addresses that differ in ids and values alone are of one sort. */
export const sortOf = (url: string): string =>
  url
    .replace(/[\da-f]{8}-[\da-f-]{27}/g, '*')
    .replace(/\/file\/[^?]+/, '/file/*')
    .replace(/\/resource\/[^?]+/, '/resource/*')
    .replace(/\/pages\/\d+/, '/pages/*')
    .replace(/=[^&]*/g, '=')
