// Permanent Atom ids: they do not depend on the server's address, the tree that the client uses, or the
// page.
import { hash } from 'node:crypto'
import { formatQuery, type Query } from '../../publication/links.ts'

// A random UUID. If it changed, every client would consider all entries new.
const namespace = Buffer.from('8f3e09dfede74639a1fa9882e16bca49', 'hex')

/** Id of a book, a series or a library. */
export const entityId = (id: string): string => `urn:uuid:${id}`

/** Id of a feed: its entity's id if it represents just that, otherwise derived from path and query. */
export function feedId({ path, query = {}, id }: { path: string; query?: Query; id?: string }) {
  const sorted = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))
  const queryText = formatQuery(Object.fromEntries(sorted))
  if (id !== undefined && queryText === '' && path.endsWith(`/${id}`)) return entityId(id)
  return `urn:uuid:${uuidV5(`opds:v1:${path}${queryText}`)}`
}

/** RFC 9562 §5.5. */
function uuidV5(name: string): string {
  const bytes = Buffer.from(
    hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'hex'),
    'hex',
  )
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
