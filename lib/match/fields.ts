// Fields that sources can set: how their values are parsed, and their names in locks and provenance. Custom metadata
// belongs to users.
import { Invalid } from '../base/errors.ts'
import { list, name } from '../base/schema.ts'
import { normalizeLabelNames } from '../catalog/label/label.ts'
import { bookEdits, seriesEdits } from '../catalog/metadata/edits.ts'
import { columnOf } from '../catalog/metadata/field-locks.ts'
import type { OwnerKind } from '../catalog/owner.ts'
import { roleFields } from '../media/metadata/book-fields.ts'
import type { Edit } from '../media/metadata/field.ts'
import { isbn13 } from '../media/metadata/isbn.ts'
import { tryAnswer } from '../sources/check.ts'

const { customMetadata: _ofSeries, ...ownSeriesEdits } = seriesEdits
const { customMetadata: _ofBook, bookType: _byUsers, ...otherBookEdits } = bookEdits
// Sources state the authors as one list.
const ownBookEdits = Object.fromEntries(
  Object.entries(otherBookEdits).filter(([field]) => !(field in roleFields)),
) as Omit<typeof otherBookEdits, keyof typeof roleFields>

type SeriesField = keyof typeof ownSeriesEdits
type BookField = keyof typeof ownBookEdits
const seriesMetadataFields = Object.keys(ownSeriesEdits) as SeriesField[]
const bookMetadataFields = Object.keys(ownBookEdits) as BookField[]

const labelFields = ['genres', 'tags'] as const
/** Fields with values of their own, in order. */
export const metadataFields = {
  series: [...seriesMetadataFields, ...labelFields],
  book: bookMetadataFields,
} as const
export const referenceFields = {
  series: ['externalIds', 'externalLinks', 'externalRatings'],
  book: ['externalIds', 'externalLinks'],
} as const

/** Types of references by field. */
export const referenceTypes = {
  externalIds: 'id',
  externalLinks: 'link',
  externalRatings: 'rating',
} as const

export type MatchedField =
  | SeriesField
  | BookField
  | (typeof labelFields)[number]
  | (typeof referenceFields)['series'][number]
  | 'cover'

/** All fields of series and books. */
export const matchedFields: readonly MatchedField[] = [
  ...new Set<MatchedField>([
    ...metadataFields.series,
    'cover',
    ...referenceFields.series,
    ...metadataFields.book,
  ]),
]

type Editable = { edit: Edit; lock: string }
const edits: Record<OwnerKind, Readonly<Record<string, Editable>>> = {
  series: ownSeriesEdits,
  book: ownBookEdits,
}

const referenceLocks: Readonly<Record<string, string>> = {
  externalIds: 'external_ids',
  externalLinks: 'external_links',
  externalRatings: 'external_ratings',
}

/** Name in provenance, and in locks. */
export function lockNameOf(kind: OwnerKind, field: MatchedField): string {
  const own = edits[kind][field]
  return own ? columnOf(own.lock) : (referenceLocks[field] ?? field)
}

const Labels = list(name(200), { maxItems: 500 })
const Texts = list(name(1000), { maxItems: 500 })

/** Parses a value like a user's edit of the field, names and ISBNs as lists; undefined if it is invalid. */
export function parseValue(kind: OwnerKind, field: MatchedField, value: unknown): unknown {
  try {
    if (field === 'genres' || field === 'tags' || field === 'genre') {
      const names = tryAnswer(Labels, value)
      return names ? normalizeLabelNames(names) : undefined
    }
    if (field === 'isbns') {
      const texts = tryAnswer(Texts, value)
      return texts ? [...new Set(texts.flatMap(text => isbn13(text) ?? []))] : undefined
    }
    const { schema, parse } = edits[kind][field]!.edit
    if (tryAnswer(schema, value) === null) return undefined
    return parse ? parse(value as never, field) : value
  } catch (error) {
    if (error instanceof Invalid) return undefined
    throw error
  }
}
