// Proposal: what a source states about a series or book compared with it, field by field, and what may change.
// Locked and user-set fields never do; a source replaces what files or other sources state.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { OwnerKind } from '../catalog/owner.ts'
import type { FetchedBook, FetchedSeries } from '../sources/contract.ts'
import { lockNameOf, type MatchedField, metadataFields, parseValue } from './fields.ts'

export const actions = [
  'change',
  'same',
  'locked',
  'set_by_user',
  'lower_priority',
  'not_permitted',
  'not_selected',
  'invalid',
] as const
export type Action = (typeof actions)[number]

/** The value is null for an invalid proposal. */
export type FieldProposal = {
  field: MatchedField
  current: unknown
  proposed: unknown
  isLocked: boolean
  /** Who set the current value: `user`, a source, or a kind of file metadata; null for files. */
  provenance: string | null
  action: Action
}

/** What the comparison needs from a series or book: values by field, locks, provenance. */
export type Compared = {
  kind: OwnerKind
  values: Readonly<Record<string, unknown>>
  locks: readonly string[]
  provenance: Readonly<Record<string, string>>
}

/** Which fields may change; null for all. */
export type Permitted = {
  /** Permitted by the settings of the source. */
  fields: readonly MatchedField[] | null
  /** Selected by the request. */
  selected: readonly MatchedField[] | null
  /** Names of sources whose values stay. */
  higher: ReadonlySet<string>
}

/** The stated values, in field order; empty values propose nothing. */
export function proposeFields(
  { metadata }: FetchedSeries | FetchedBook,
  current: Compared,
  permitted: Permitted,
): FieldProposal[] {
  return metadataFields[current.kind].flatMap(field => {
    const stated = Object.hasOwn(metadata, field) ? metadata[field] : null
    if (isEmpty(stated)) return []
    const proposed = parseValue(current.kind, field, stated)
    return proposed !== undefined && isEmpty(proposed)
      ? []
      : [propose(field, { proposed, current, permitted })]
  })
}

export function propose(
  field: MatchedField,
  {
    proposed,
    current: { kind, values, locks, provenance },
    permitted: { fields, selected, higher },
  }: { proposed: unknown; current: Compared; permitted: Permitted },
): FieldProposal {
  const lock = lockNameOf(kind, field)
  const current = values[field] ?? null
  const isLocked = locks.includes(lock)
  const origin = provenance[lock] ?? null
  const decide = (): Action => {
    if (proposed === undefined) return 'invalid'
    if (isDeepStrictEqual(current, proposed)) return 'same'
    if (isLocked) return 'locked'
    if (origin === 'user') return 'set_by_user'
    if (origin !== null && higher.has(origin)) return 'lower_priority'
    if (fields && !fields.includes(field)) return 'not_permitted'
    return selected && !selected.includes(field) ? 'not_selected' : 'change'
  }
  const action = decide()
  return { field, current, proposed: proposed ?? null, isLocked, provenance: origin, action }
}

function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    (typeof value === 'string' && value.trim() === '') ||
    (Array.isArray(value) && value.length === 0)
  )
}

/** The hash given by the source, otherwise a hash of what it states. */
export function hashOf(fetched: FetchedSeries | FetchedBook): string {
  if (fetched.hash !== null) return fetched.hash
  return createHash('sha256')
    .update(JSON.stringify(inOrder(fetched)))
    .digest('hex')
}

/** The same value with object members in a fixed order. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(inOrder)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([key, member]) => [key, inOrder(member)]))
}
