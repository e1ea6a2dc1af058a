// Schemas of metadata from sources: comparisons, applications, sources.

import { component, json, list, nullable, oneOf, record, Type, uuid } from '../../base/schema.ts'
import { matchedFields } from '../fields.ts'
import { actions } from '../proposal.ts'

const FieldComparison = component('FieldComparison', {
  field: oneOf(matchedFields),
  current: json(),
  proposed: json({ description: 'Proposed value; null if it is invalid.' }),
  isLocked: Type.Boolean(),
  provenance: nullable(
    Type.String({
      description:
        'Who set the current value: `user`, a source, or a kind of file metadata; null for files.',
    }),
  ),
  action: oneOf(actions, { description: 'Only `change` changes the field.' }),
})
const comparison = {
  sourceId: uuid(),
  externalId: Type.String(),
  url: nullable(Type.String()),
  hash: Type.String(),
  isUnchanged: Type.Boolean({ description: 'Whether the source states the same as last time.' }),
  fields: list(FieldComparison),
  coverUrl: nullable(Type.String()),
}
export const MetadataComparison = component('MetadataComparison', comparison)
export const AppliedMetadata = component('AppliedMetadata', {
  ...comparison,
  isDryRun: Type.Boolean(),
  appliedFields: list(oneOf(matchedFields)),
  skippedFields: list(record({ field: oneOf(matchedFields), reason: oneOf(actions) })),
  cover: oneOf(['none', 'set', 'locked', 'failed']),
})

export const MetadataSourceList = component('MetadataSourceList', {
  sources: list(
    record({
      id: uuid(),
      name: Type.String({ description: 'Name used in external ids and provenance.' }),
      displayName: Type.String(),
      kinds: list(oneOf(['series', 'book']), { description: 'What it has metadata of.' }),
    }),
  ),
})
