// Series strategy for Calibre libraries: `Author/Title (id)/Title - Author.epub`.
import type { Static } from 'typebox'
import { Type } from '../../base/schema-type.ts'
import {
  type BookPath,
  folderPlacement,
  namedPlacement,
  oneShotPlacement,
  type Placement,
  type SeriesFacts,
} from './placement.ts'

export const calibreConfig = Type.Object({
  /** Removes the ` (45)` that Calibre appends to the title. */
  stripIdSuffix: Type.Boolean({ default: true }),
  seriesMode: Type.Unsafe<'standalone' | 'by_author' | 'from_metadata'>({
    type: 'string',
    enum: ['standalone', 'by_author', 'from_metadata'],
    default: 'from_metadata',
  }),
  /** Whether the series may come from the sidecar. */
  readOpfMetadata: Type.Boolean({ default: true }),
  authorFromFolder: Type.Boolean({ default: true }),
})

/** `facts.series` is the series of the sidecar or the embedded metadata. */
export function byCalibre(
  book: BookPath,
  config: Partial<Static<typeof calibreConfig>>,
  facts: SeriesFacts,
): Placement {
  const { stripIdSuffix = true, seriesMode = 'from_metadata' } = config
  const { readOpfMetadata = true, authorFromFolder = true } = config
  if (book.folders.length === 0) return oneShotPlacement(book)
  const folder = book.folders.at(-1)!
  const title = stripIdSuffix ? folder.replace(/ \(\d{1,9}\)$/, '') : folder
  const author = (authorFromFolder && book.folders.at(-2)) || null
  const common = { author, title: title || null }
  if (seriesMode === 'from_metadata' && readOpfMetadata && facts.series) {
    return namedPlacement(facts.series, common)
  }
  if (seriesMode !== 'by_author') {
    return folderPlacement(book.folders, { ...common, name: title || 'Unknown', isOneShot: true })
  }
  if (author === null) return namedPlacement('Unknown Author', common)
  return folderPlacement(book.folders.slice(0, -1), { ...common, name: author, year: null })
}
