// Series named by the files: flat (all in one folder) and custom (a pattern over the path).
import Type, { type Static } from 'typebox'
import { parseFilename } from '../name/filename.ts'
import { compilePattern, fillTemplate, matchPattern, tryPattern } from './pattern.ts'
import {
  type BookPath,
  byName,
  type Facts,
  inFolder,
  oneShot,
  type Placement,
} from './placement.ts'

export const flatConfig = Type.Object({
  /** Tried in order against the file's stem; group 1 is the series. */
  filenamePatterns: Type.Array(Type.String({ minLength: 1 }), { default: [], maxItems: 50 }),
  /** Without a hit and without an embedded series the book goes to `Unknown`. */
  requireMetadata: Type.Boolean({ default: false }),
})
type FlatConfig = Static<typeof flatConfig>

/** Throws Invalid for a pattern that is none. */
export function checkFlat({ filenamePatterns = [] }: Partial<FlatConfig>) {
  for (const [i, pattern] of filenamePatterns.entries()) {
    compilePattern(pattern, `filenamePatterns[${i}]`)
  }
}

/** The user's patterns, else the embedded series, else what the file name says. */
export function byFlat(
  { stem }: BookPath,
  { filenamePatterns = [], requireMetadata = false }: Partial<FlatConfig>,
  facts: Facts,
): Placement {
  const parsed = parseFilename(stem)
  for (const source of filenamePatterns) {
    const pattern = tryPattern(source)
    const name = pattern && matchPattern(pattern, stem)?.all[1]?.trim()
    if (name) return byName(name, { year: parsed.year })
  }
  if (facts.series) return byName(facts.series, { year: parsed.year })
  if (requireMetadata) return byName('Unknown')
  // `[One Piece] v01`: with nothing else left the brackets hold the series, not a release group.
  const named = parsed.series ?? parsed.groups[0] ?? stem
  const dash = named.indexOf(' - ')
  return byName(dash > 0 ? named.slice(0, dash).trim() : named, { year: parsed.year })
}

export const customConfig = Type.Object({
  /** Against the library-relative path; groups series, publisher, book, volume, year, imprint. */
  pattern: Type.String({ minLength: 1 }),
  seriesNameTemplate: Type.String({ minLength: 1, maxLength: 500, default: '{series}' }),
})
type CustomConfig = Static<typeof customConfig>

/** Throws Invalid for a pattern that is none. */
export function checkCustom({ pattern = '' }: Partial<CustomConfig>) {
  compilePattern(pattern, 'pattern')
}

export function byCustom(
  book: BookPath,
  { pattern: source = '', seriesNameTemplate = '{series}' }: Partial<CustomConfig>,
): Placement {
  const pattern = source === '' ? null : tryPattern(source)
  const groups = pattern && matchPattern(pattern, book.path)?.named
  if (!groups) return book.folders.length === 0 ? oneShot(book) : inFolder(book.folders)
  const name = fillTemplate(seriesNameTemplate, groups).replace(/[{}]/g, '').trim()
  return byName(name || 'Unsorted', {
    publisher: groups.publisher || null,
    imprint: groups.imprint || null,
    year: /^\d{4}$/.test(groups.year ?? '') ? Number(groups.year) : null,
    volume: /^\d{1,9}$/.test(groups.volume ?? '') ? Number(groups.volume) : groups.volume || null,
    title: groups.book || null,
  })
}
