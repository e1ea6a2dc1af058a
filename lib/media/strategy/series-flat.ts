// Series strategies by file name: `flat` (all files in one folder) and `custom` (a pattern for the path).
import type { Static } from 'typebox'
import { Type } from '../../base/schema-type.ts'
import { parseFilename } from '../name/filename.ts'
import { checkPatterns, compilePattern, fillTemplate, matchPattern, tryPattern } from './pattern.ts'
import {
  type BookPath,
  folderPlacement,
  namedPlacement,
  oneShotPlacement,
  type Placement,
  type SeriesFacts,
} from './placement.ts'

export const flatConfig = Type.Object({
  /** Matched in order against the stem of the file; group 1 is the series. */
  filenamePatterns: Type.Array(Type.String({ minLength: 1 }), { default: [], maxItems: 50 }),
  /** Without a match and an embedded series the book is placed in `Unknown`. */
  requireMetadata: Type.Boolean({ default: false }),
})
type FlatConfig = Static<typeof flatConfig>

/** Throws Invalid for an invalid pattern. */
export function checkFlat({ filenamePatterns = [] }: Partial<FlatConfig>) {
  checkPatterns(filenamePatterns, i => `filenamePatterns[${i}]`)
}

/** Uses the configured patterns, else the embedded series, else the parsed file name. */
export function byFlat(
  { stem }: BookPath,
  { filenamePatterns = [], requireMetadata = false }: Partial<FlatConfig>,
  facts: SeriesFacts,
): Placement {
  const parsed = parseFilename(stem)
  for (const source of filenamePatterns) {
    const pattern = tryPattern(source)
    const name = pattern && matchPattern(pattern, stem)?.all[1]?.trim()
    if (name) return namedPlacement(name, { year: parsed.year })
  }
  if (facts.series) return namedPlacement(facts.series, { year: parsed.year })
  if (requireMetadata) return namedPlacement('Unknown')
  // `[One Piece] v01`: without other text the brackets contain the series, not a release group.
  const name = parsed.series ?? parsed.groups[0] ?? stem
  const dash = name.indexOf(' - ')
  return namedPlacement(dash > 0 ? name.slice(0, dash).trim() : name, { year: parsed.year })
}

export const customConfig = Type.Object({
  /** Matched against the library-relative path; groups series, publisher, book, volume, year, imprint. */
  pattern: Type.String({ minLength: 1 }),
  seriesNameTemplate: Type.String({ minLength: 1, maxLength: 500, default: '{series}' }),
})
type CustomConfig = Static<typeof customConfig>

/** Throws Invalid for an invalid pattern. */
export function checkCustom({ pattern = '' }: Partial<CustomConfig>) {
  compilePattern(pattern, 'pattern')
}

export function byCustom(
  book: BookPath,
  { pattern: source = '', seriesNameTemplate = '{series}' }: Partial<CustomConfig>,
): Placement {
  const pattern = source === '' ? null : tryPattern(source)
  const groups = pattern && matchPattern(pattern, book.path)?.named
  if (!groups)
    return book.folders.length === 0 ? oneShotPlacement(book) : folderPlacement(book.folders)
  const name = fillTemplate(seriesNameTemplate, groups).replace(/[{}]/g, '').trim()
  return namedPlacement(name || 'Unsorted', {
    publisher: groups.publisher || null,
    imprint: groups.imprint || null,
    year: /^\d{4}$/.test(groups.year ?? '') ? Number(groups.year) : null,
    volume: /^\d{1,9}$/.test(groups.volume ?? '') ? Number(groups.volume) : groups.volume || null,
    title: groups.book || null,
  })
}
