// Permanent names of what is in the catalogue: they do not change with the address of the server, the
// tree by which the client came, or the page.
import { hash } from 'node:crypto'
import type { Query } from '../feed.ts'
import { searchOf } from '../links.ts'

// Made for this; with another one every client would see everything anew.
const namespace = Buffer.from('8f3e09dfede74639a1fa9882e16bca49', 'hex')

/** Of a book, a series or a library. */
export const entityId = (id: string): string => `urn:uuid:${id}`

/** Of what a feed shows: that of what it is of, when it is just that; else one made of path and query. */
export function feedId({ path, query = {}, id }: { path: string; query?: Query; id?: string }) {
  const search = searchOf(
    Object.fromEntries(Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))),
  )
  if (id !== undefined && search === '' && path.endsWith(`/${id}`)) return entityId(id)
  return `urn:uuid:${nameBased(`opds:v1:${path}${search}`)}`
}

/** A UUID of version 5 (RFC 9562 §5.5). */
function nameBased(name: string): string {
  const bytes = Buffer.from(
    hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'hex'),
    'hex',
  )
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
