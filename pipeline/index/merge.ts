// Merges metadata from several sources: each field comes from the first source that states it.
import type { Metadata, MetadataSource, SourceReading } from '../../lib/media/metadata/metadata.ts'

/** `provenance` names the source of each field. */
export type MergedMetadata = { metadata: Metadata; provenance: Record<string, MetadataSource> }

/** `sources` in descending priority. Lists are not mixed: the first source with one wins. */
export function mergeSources(sources: SourceReading[]): MergedMetadata {
  const metadata: Record<string, unknown> = {}
  const provenance: Record<string, MetadataSource> = {}
  for (const { source, metadata: stated } of sources) {
    for (const [field, value] of Object.entries(stated)) {
      if (field in metadata || isEmpty(value)) continue
      metadata[field] = value
      provenance[field] = source
    }
  }
  return { metadata: metadata as Metadata, provenance }
}

function isEmpty(value: unknown) {
  return (
    value === null ||
    value === undefined ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  )
}
