// A Calibre library: `Author/Title (id)/Title - Author.epub`.
import Type, { type Static } from 'typebox'
import {
  type BookPath,
  byName,
  type Facts,
  inFolder,
  oneShot,
  type Placement,
} from './placement.ts'

export const calibreConfig = Type.Object({
  /** Takes the ` (45)` Calibre adds off the title. */
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

/** `facts.series` is the series of the sidecar or of the file. */
export function byCalibre(
  book: BookPath,
  config: Partial<Static<typeof calibreConfig>>,
  facts: Facts,
): Placement {
  const { stripIdSuffix = true, seriesMode = 'from_metadata' } = config
  const { readOpfMetadata = true, authorFromFolder = true } = config
  if (book.folders.length === 0) return oneShot(book)
  const folder = book.folders.at(-1)!
  const title = stripIdSuffix ? folder.replace(/ \(\d{1,9}\)$/, '') : folder
  const author = (authorFromFolder && book.folders.at(-2)) || null
  const told = { author, title: title || null }
  if (seriesMode === 'from_metadata' && readOpfMetadata && facts.series) {
    return byName(facts.series, told)
  }
  if (seriesMode !== 'by_author') {
    return inFolder(book.folders, { ...told, name: title || 'Unknown', oneShot: true })
  }
  if (author === null) return byName('Unknown Author', told)
  return inFolder(book.folders.slice(0, -1), { ...told, name: author, year: null })
}
