// Normal form of answers: names in place of ids, placeholders for values that differ between two runs of the same code.
import { createHash } from 'node:crypto'

/** Names of records by id, and ids by name. */
export type Names = { byId: Map<string, string>; ids: Map<string, string> }
export type NormalForm = {
  status: number
  headers: Record<string, string>
  body: unknown
}

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g
// All times of the library are older.
const recentTime = /20(?:2[5-9]|[3-9]\d)-\d\d-\d\d(?:T[\d:]+(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?/g
const weekdayTime = /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20(?:2[5-9]|[3-9]\d) [\d:]{8} GMT/g
const temporary = /stackroom-[A-Za-z0-9]{6}(?![A-Za-z0-9])/g
const digits = { seconds: /^1[7-9]\d{8}$/, milliseconds: /^1[7-9]\d{11}$/ }
const secretMembers = new Set(['accessToken', 'refreshToken', 'key', 'prefix', 'keyPrefix'])
/** Members that depend on this process, its machine or the moment. */
const volatileMembers =
  /^(version|uptime\w*|\w*Ms|\w*Millis|startedSecondsAgo|freeBytes|totalBytes|rss|heap\w*|seed|nodeVersion|databaseVersion|durationSeconds|databaseSize\w*)$/
const comparedHeaders = [
  ...['content-type', 'content-disposition', 'link', 'location', 'www-authenticate', 'allow'],
  ...['cache-control', 'accept-ranges', 'content-range', 'vary', 'retry-after'],
]

export const createNames = (): Names => ({ byId: new Map(), ids: new Map() })

/** The first name of an id counts; a name that is taken gets a number. */
export function addName({ byId, ids }: Names, id: string, name: string): void {
  if (byId.has(id)) return
  let free = name
  for (let i = 2; ids.has(free); i++) free = `${name} #${i}`
  byId.set(id, free)
  ids.set(free, id)
}

/** `{{name}}` in texts as the id of this run. */
export const withIds = (names: Names, text: string): string =>
  text.replace(/\{\{(.+?)\}\}/g, (_, name: string) => {
    const id = names.ids.get(name)
    if (id === undefined) throw new Error(`no record is called ${name}`)
    return id
  })

function normalText(names: Names, text: string): string {
  return text
    .replace(uuid, id => `{{${names.byId.get(id) ?? 'id'}}}`)
    .replace(weekdayTime, '{{time}}')
    .replace(recentTime, '{{time}}')
    .replace(temporary, 'stackroom-folder')
    .replace(/stackroom_[\w-]{8,}/g, '{{key}}')
    .replace(/127\.0\.0\.1:\d+/g, '{{host}}')
    .replace(/127\.0\.0\.1%3A\d+/g, '{{host}}')
}

function normalValue(names: Names, value: unknown, member = ''): unknown {
  if (typeof value === 'string')
    return secretMembers.has(member) && value.length > 30 ? '{{secret}}' : normalText(names, value)
  if (typeof value === 'number') {
    const isTime = digits.seconds.test(String(value)) || digits.milliseconds.test(String(value))
    return isTime || volatileMembers.test(member) ? '{{number}}' : value
  }
  if (Array.isArray(value)) {
    const items = value.map(item => normalValue(names, item))
    // Values aggregated from several books have no order.
    return member === 'tags' && items.every(item => typeof item === 'string') ? items.sort() : items
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      normalText(names, key),
      volatileMembers.test(key) && item !== null ? '{{own}}' : normalValue(names, item, key),
    ]),
  )
}

/** Status, headers that clients depend on, and the body. Bytes that are no text are their digest and length. */
export function normalAnswer(
  names: Names,
  response: Response,
  bytes: Buffer,
  only?: 'ids',
): NormalForm {
  const headers = comparedHeaders.flatMap(name => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, normalText(names, value)] as const]
  })
  for (const name of ['etag', 'last-modified', 'x-request-id'])
    if (response.headers.has(name)) headers.push([name, 'present'])
  const type = response.headers.get('content-type') ?? ''
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    body: normalBody(names, { type, bytes }, only),
  }
}

function normalBody(names: Names, { type, bytes }: { type: string; bytes: Buffer }, only?: 'ids') {
  if (bytes.length === 0) return null
  if (/json/.test(type)) {
    const value = normalValue(names, JSON.parse(bytes.toString()))
    return only === 'ids' ? withIdsOnly(value) : value
  }
  if (/zip/.test(type)) return { zip: bytes.subarray(0, 4).toString('hex') }
  const isText = /^text\/|xml|cbl|javascript/.test(type)
  if (isText) return normalText(names, bytes.toString()).split('\n')
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** A page of records with their ids alone. */
function withIdsOnly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIdsOnly)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      ['data', 'content'].includes(key) && Array.isArray(item)
        ? item.map(record => record?.id ?? record)
        : item,
    ]),
  )
}
