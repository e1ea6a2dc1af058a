// Proposal: what a source states about a series compared with the series, field by field, and what may change.
// Locked and user-set fields never do; a source replaces what files or other sources state.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { Invalid } from '../base/errors.ts'
import { list, name } from '../base/schema.ts'
import { normalizeLabelNames } from '../catalog/label/label.ts'
import { seriesEdits } from '../catalog/metadata/edits.ts'
import { tryAnswer } from '../sources/check.ts'
import type { FetchedSeries } from '../sources/contract.ts'
import { type MatchedField, metadataFields } from './matching-settings.ts'

export const actions = [
  'change',
  'same',
  'locked',
  'set_by_user',
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

/** What the comparison needs from a series: values by field, locks, provenance. */
export type ComparedSeries = {
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
}

/** Names in locks and provenance. */
const lockNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(metadataFields.map(field => [field, seriesEdits[field].lock])),
  ...{ genres: 'genres', tags: 'tags', cover: 'cover', externalIds: 'external_ids' },
  ...{ externalLinks: 'external_links', externalRatings: 'external_ratings' },
}
export const lockNameOf = (field: MatchedField): string => lockNames[field]!

/** The stated values, in field order; empty values propose nothing. */
export function proposeFields(
  { metadata }: FetchedSeries,
  series: ComparedSeries,
  permitted: Permitted,
): FieldProposal[] {
  return [...metadataFields, 'genres' as const, 'tags' as const].flatMap(field => {
    const stated = Object.hasOwn(metadata, field) ? metadata[field] : null
    if (isEmpty(stated)) return []
    const proposed = parseValue(field, stated)
    return proposed !== undefined && isEmpty(proposed)
      ? []
      : [propose(field, { proposed, series, permitted })]
  })
}

export function propose(
  field: MatchedField,
  {
    proposed,
    series: { values, locks, provenance },
    permitted: { fields, selected },
  }: { proposed: unknown; series: ComparedSeries; permitted: Permitted },
): FieldProposal {
  const lock = lockNameOf(field)
  const current = values[field] ?? null
  const isLocked = locks.includes(lock)
  const origin = provenance[lock] ?? null
  const decide = (): Action => {
    if (proposed === undefined) return 'invalid'
    if (isDeepStrictEqual(current, proposed)) return 'same'
    if (isLocked) return 'locked'
    if (origin === 'user') return 'set_by_user'
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

const Labels = list(name(200), { maxItems: 500 })

/** Parses a value like a user's edit of the field; undefined if it is invalid. */
function parseValue(field: (typeof metadataFields)[number] | 'genres' | 'tags', value: unknown) {
  try {
    if (field === 'genres' || field === 'tags') {
      const names = tryAnswer(Labels, value)
      return names ? normalizeLabelNames(names) : undefined
    }
    const { schema, parse } = seriesEdits[field].edit
    if (tryAnswer(schema, value) === null) return undefined
    return parse ? parse(value as never, field) : value
  } catch (error) {
    if (error instanceof Invalid) return undefined
    throw error
  }
}

/** The hash given by the source, otherwise a hash of what it states. */
export function hashOf(fetched: FetchedSeries): string {
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
