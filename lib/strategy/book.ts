// A book's title, volume and chapter, as each book strategy finds them.
import Type, { type Static, type TObject } from 'typebox'
import { Invalid } from '../errors.ts'
import { parseFilename } from '../name/filename.ts'
import { stemOf } from '../name/stem.ts'
import { type Config, readConfig } from './config.ts'
import { compilePattern, fillTemplate, matchPattern, tryPattern } from './pattern.ts'

export const bookStrategies = [
  'filename',
  'metadata_first',
  'smart',
  'series_name',
  'custom',
] as const
export type BookStrategy = (typeof bookStrategies)[number]

/** What is known of a book; `volume` and `chapter` are those of the embedded metadata. */
export type BookFacts = {
  fileName: string
  title?: string | null
  volume?: number | null
  chapter?: number | null
  series?: string | null
  /** From the series strategy: a number or a folder's words. */
  placedVolume?: string | number | null
  /** Its number in the series and how many the series has, for `series_name`. */
  number?: number | null
  total?: number | null
}
/** `volume` is whole, `chapter` may be fractional. */
export type BookNaming = { title: string; volume: number | null; chapter: number | null }

const none = Type.Object({})
const smartConfig = Type.Object({
  /** Titles that say nothing, beside `Vol. 3`, `Chapter 5`, `#42` and the like. */
  additionalGenericPatterns: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    maxItems: 50,
  }),
})
const customConfig = Type.Object({
  /** Against the stem; groups title, series, volume, chapter. */
  pattern: Type.String({ minLength: 1 }),
  /** Of `{series}{volume}{chapter}{title}{filename}`; empty takes the group title. */
  titleTemplate: Type.String({ maxLength: 500, default: '' }),
  fallback: Type.Unsafe<BookStrategy>({
    type: 'string',
    enum: ['filename', 'metadata_first', 'smart', 'custom'],
    default: 'filename',
  }),
})
const schemas: Record<BookStrategy, TObject> = {
  filename: none,
  metadata_first: none,
  smart: smartConfig,
  series_name: none,
  custom: customConfig,
}

/** The configuration to store. Throws Invalid for an unknown strategy, key or pattern. */
export function validateBookStrategy(strategy: string, config: unknown): Config {
  const known = bookStrategies.find(name => name === strategy)
  if (!known) {
    throw new Invalid(
      `There is no book strategy ${strategy}; there are: ${bookStrategies.join(', ')}`,
    )
  }
  const full = readConfig(schemas[known], config)
  if (known === 'custom') compilePattern(String(full.pattern), 'pattern')
  if (known === 'smart') {
    const { additionalGenericPatterns } = full as Static<typeof smartConfig>
    for (const [i, pattern] of additionalGenericPatterns.entries()) {
      compilePattern(pattern, `additionalGenericPatterns[${i}]`)
    }
  }
  return full
}

/** Never throws; a pattern that is none counts as no match. */
export function nameBook(
  strategy: BookStrategy,
  config: Config | null,
  book: BookFacts,
): BookNaming {
  const stem = stemOf(book.fileName)
  const told = book.title?.trim() || null
  if (strategy === 'custom') return byPattern(config ?? {}, book)
  if (strategy === 'series_name') return bySeriesName(book)
  if (strategy === 'filename') return { title: stem, ...markersOf(stem) }
  const { additionalGenericPatterns = [] } = (config ?? {}) as Partial<Static<typeof smartConfig>>
  const isGeneric = strategy === 'smart' && told !== null && says(told, additionalGenericPatterns)
  const inName = markersOf(stem)
  return {
    title: told === null || isGeneric ? stem : told,
    volume: whole(book.volume) ?? inName.volume,
    chapter: book.chapter ?? inName.chapter,
  }
}

const generic =
  /^(?:(?:Vol\.|Volume|Chapter|Part|Ep\.|Episode) ?\d{1,9}(?:\.\d{1,9})?|(?:Issue ?)?#?\d{1,9}(?:\.\d{1,9})?)$/

function says(title: string, patterns: string[]): boolean {
  return generic.test(title) || patterns.some(source => tryPattern(source)?.test(title))
}

function markersOf(stem: string): { volume: number | null; chapter: number | null } {
  const { volume, chapter } = parseFilename(stem)
  return { volume: whole(volume), chapter }
}

function whole(value: number | null | undefined): number | null {
  return Number.isSafeInteger(value) ? (value ?? null) : null
}

function bySeriesName(book: BookFacts): BookNaming {
  const stem = stemOf(book.fileName)
  const inName = markersOf(stem)
  const volume = whole(book.volume) ?? placedNumber(book.placedVolume) ?? inName.volume
  const chapter = book.chapter ?? inName.chapter
  const total = book.total ?? 0
  const wide = total < 100 ? 2 : total < 1_000 ? 3 : 4
  const naming = { volume, chapter }
  if (book.series && volume !== null && chapter !== null) {
    const chapters = padded(chapter, total < 1_000 ? 3 : 4)
    return { title: `${book.series} v.${padded(volume, 2)} c.${chapters}`, ...naming }
  }
  const number = book.number ?? null
  if (!book.series || number === null) return { title: stem, ...naming }
  return { title: `${book.series} v.${padded(number, wide)}`, ...naming }
}

function placedNumber(volume: string | number | null | undefined): number | null {
  return typeof volume === 'string' ? whole(parseFilename(volume).volume) : whole(volume)
}

function padded(value: number, width: number): string {
  const [integer = '', decimals] = String(value).split('.')
  return integer.padStart(width, '0') + (decimals ? `.${decimals}` : '')
}

function byPattern(config: Partial<Static<typeof customConfig>>, book: BookFacts): BookNaming {
  const { pattern: source = '', titleTemplate = '', fallback = 'filename' } = config
  const stem = stemOf(book.fileName)
  const pattern = source === '' ? null : tryPattern(source)
  const groups = pattern && matchPattern(pattern, stem)?.named
  const other = nameBook(fallback === 'custom' ? 'filename' : fallback, null, book)
  if (!groups) return other
  const template = titleTemplate || (groups.title ? '{title}' : '')
  const filled = fillTemplate(template, { ...groups, filename: stem })
  const title = filled.replace(/ {2,}/g, ' ').trim() || other.title
  const chapter = /^\d{1,9}(?:\.\d{1,9})?$/.test(groups.chapter ?? '')
    ? Number(groups.chapter)
    : null
  const volume = /^\d{1,9}$/.test(groups.volume ?? '') ? Number(groups.volume) : null
  return { title, volume, chapter }
}
