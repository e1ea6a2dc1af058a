// One book from several sources: each field from the first source that states it, with a note of
// which one that was.
import type { Metadata, MetadataSource, SourceReading } from '../../lib/metadata/metadata.ts'

export type Merged = { metadata: Metadata; provenance: Record<string, MetadataSource> }

/** `sources` in order of priority. Lists are not mixed: the first source that has one is taken whole. */
export function mergeSources(sources: SourceReading[]): Merged {
  const metadata: Record<string, unknown> = {}
  const provenance: Record<string, MetadataSource> = {}
  for (const { source, metadata: said } of sources) {
    for (const [field, value] of Object.entries(said)) {
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
