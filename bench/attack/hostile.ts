// Hostile values for parameters, bodies and forms: long, deep, wide, of other types, out of range, no text at all.
import { bodyLimit } from '../../lib/http/limits/body-limit.ts'
import type { Route } from '../../lib/http/route.ts'

const used = new Map<readonly unknown[], number>()

/** The next of a list, from its beginning again after the last: a walk has all, in many places each. */
export function nextOf<T>(list: readonly T[], count: number): T[] {
  const start = used.get(list) ?? 0
  used.set(list, start + count)
  return Array.from(
    { length: Math.min(count, list.length) },
    (_, i) => list[(start + i) % list.length]!,
  )
}

/** In the place of a parameter of a path or query, encoded. */
export const hostileParameters: readonly string[] = [
  '%00',
  '%FF%FE',
  '%ED%A0%80',
  '..%2F..%2F..%2Fetc%2Fpasswd',
  // `%2e%2e` alone would be resolved before it is sent.
  '%2e%2e%2f',
  '..%5c..%5cwindows',
  '-1',
  '0',
  '1e400',
  '9999999999999999999999',
  '-9223372036854775809',
  'NaN',
  '%27%22%3B--',
  '%25',
  '__proto__',
  'constructor',
  '%E2%80%AE%F0%9F%92%A5',
  encodeURIComponent('ﷺ'.repeat(200)),
  'x'.repeat(7000),
  'a%2C'.repeat(1200),
  '%7B%22a%22%3A%5B1%5D%7D',
  '2026-13-45T99%3A99%3A99Z',
  '0001-01-01T00%3A00%3A00Z',
  '275760-09-13',
]

const deep = (length: number) => `${'['.repeat(length)}${']'.repeat(length)}`
const wide = (count: number) =>
  `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`

/** JSON texts in the place of a field. */
const hostileFields: readonly string[] = [
  'null',
  '-1',
  '1e308',
  '9007199254740993',
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u202e💥"',
  '{"__proto__":{"a":1}}',
  '{"toString":1,"length":-1}',
  `"${'ﷺ'.repeat(2000)}"`,
  deep(90),
  wide(2000),
  `[${'"x",'.repeat(3000)}1]`,
  `["00000000-0000-7000-8000-00000000dead"]`,
]

/** Bodies of a route as texts, with this many values per field. */
export function* hostileBodies(route: Route, values: number): Generator<string> {
  const properties = (route.body as { properties?: object } | undefined)?.properties ?? { x: 1 }
  const names = Object.keys(properties)
  for (const name of names.slice(0, values > 1 ? 12 : 1))
    for (const value of nextOf(hostileFields, values)) yield `{${JSON.stringify(name)}:${value}}`
  const length = Math.floor(bodyLimit(route) / 2) - 60
  yield* nextOf(wholes, values)
  if (values === 1) return
  yield `{"${names[0] ?? 'x'}":"${'x'.repeat(length)}"}`
  yield deep(length)
}

const wholes: readonly string[] = ['{"a":', '\u0000', 'null', `{"x":${'9'.repeat(5000)}}`]

/** Media types that the body does not have. */
export const otherTypes: readonly string[] = [
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=x',
  'application/merge-patch+json',
]

const noise = Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 251))
const file = (bytes: string | Uint8Array<ArrayBuffer>, name: string) => {
  const form = new FormData()
  form.set('file', new Blob([bytes]), name)
  return form
}

/** Forms: files that are none of the expected kind, and parts of a wrong form. */
function* formsOf(): Generator<FormData | string> {
  yield file('', 'empty.png')
  yield file(new Uint8Array(noise), '../../../etc/passwd')
  yield file(`\x89PNG\r\n\x1a\n${'x'.repeat(3000)}`, 'a\u0000.png')
  yield file('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'a.svg')
  yield file(
    `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "${'b'.repeat(1000)}">]><a>${'&b;'.repeat(9000)}</a>`,
    'a.cbl',
  )
  const many = new FormData()
  for (let i = 0; i < 200; i++) many.append(`field${i}`, 'x'.repeat(200))
  yield many
  const named = new FormData()
  named.set('file'.repeat(2000), new Blob(['x']), 'x'.repeat(5000))
  yield named
  // Without a boundary, an end, or a part.
  yield '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc'
  yield '--x--\r\n'
  yield `--x\r\n${'A: b\r\n'.repeat(2000)}\r\n`
}

export const hostileForms: readonly (FormData | string)[] = [...formsOf()]
