// Metadata of a book from one source. Every member is optional: absent means not stated.
import { words } from '../../base/words.ts'
import type { composedFields, fileFields, internalFields, readOnlyFields } from './book-fields.ts'
import type { Members } from './field.ts'
import type { PageNote } from './values.ts'

/** Members are described in book-fields.ts. */
export type Metadata = Partial<
  Members<typeof fileFields> &
    Members<typeof readOnlyFields> &
    Members<typeof composedFields> &
    Members<typeof internalFields> & { series: string; pageNotes: PageNote[] }
>

/** Sources of metadata, highest priority first; stored per field as provenance. */
export const metadataSources = words(
  'user comicinfo metroninfo epub pdf opf series_json filename folder',
)
export type MetadataSource = (typeof metadataSources)[number]

/** Sources whose values each reading of the files replaces. */
export const fileSources = metadataSources.filter(source => source !== 'user')

/** The sources of a library with Calibre: its metadata.opf is newer than what is embedded in the files. */
export const calibreSources: readonly MetadataSource[] = [
  'user',
  'opf',
  ...metadataSources.filter(source => source !== 'user' && source !== 'opf'),
]

/** Metadata of one source. `warnings` are short sentences without paths, stored on the book. */
export type SourceReading = { source: MetadataSource; metadata: Metadata; warnings: string[] }
