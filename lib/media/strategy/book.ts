// Book strategies: how the title, volume and chapter of a book are determined.
import type { Static, TObject } from 'typebox'
import { Invalid } from '../../base/errors.ts'
import { Type } from '../../base/schema-type.ts'
import { stemOf } from '../format/formats.ts'
import { parseFilename } from '../name/filename.ts'
import { type Config, validateConfig } from './config.ts'
import { checkPatterns, compilePattern, fillTemplate, matchPattern, tryPattern } from './pattern.ts'

export const bookStrategies = [
  'filename',
  'metadata_first',
  'smart',
  'series_name',
  'custom',
] as const
export type BookStrategy = (typeof bookStrategies)[number]

/** Properties of a book; `title`, `volume` and `chapter` come from the embedded metadata. */
export type BookFacts = {
  fileName: string
  title?: string | null
  volume?: number | null
  chapter?: number | null
  series?: string | null
  /** From the series strategy: a number or a folder name. */
  placedVolume?: string | number | null
  /** Number of the book and of all books in the series, for `series_name`. */
  number?: number | null
  total?: number | null
}
/** `volume` is an integer, `chapter` may be fractional. */
export type BookNaming = { title: string; volume: number | null; chapter: number | null }

const none = Type.Object({})
const smartConfig = Type.Object({
  /** Patterns of generic titles, in addition to `Vol. 3`, `Chapter 5`, `#42` and the like. */
  additionalGenericPatterns: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    maxItems: 50,
  }),
})
const customConfig = Type.Object({
  /** Matched against the stem; groups title, series, volume, chapter. */
  pattern: Type.String({ minLength: 1 }),
  /** Template with `{series}{volume}{chapter}{title}{filename}`; if empty, the group `title` is used. */
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

/** Returns the configuration to store. Throws Invalid for an unknown strategy, key or invalid pattern. */
export function validateBookStrategy(strategy: string, config: unknown): Config {
  const known = bookStrategies.find(name => name === strategy)
  if (!known) {
    throw new Invalid(`Unknown book strategy ${strategy}; supported: ${bookStrategies.join(', ')}`)
  }
  const full = validateConfig(schemas[known], config)
  if (known === 'custom') compilePattern(String(full.pattern), 'pattern')
  if (known === 'smart') {
    const { additionalGenericPatterns } = full as Static<typeof smartConfig>
    checkPatterns(additionalGenericPatterns, i => `additionalGenericPatterns[${i}]`)
  }
  return full
}

/** Never throws; an invalid pattern does not match. */
export function nameBook(
  strategy: BookStrategy,
  config: Config | null,
  book: BookFacts,
): BookNaming {
  const stem = stemOf(book.fileName)
  const embeddedTitle = book.title?.trim() || null
  if (strategy === 'custom') return byPattern(config ?? {}, book)
  if (strategy === 'series_name') return bySeriesName(book)
  if (strategy === 'filename') return { title: stem, ...markersOf(stem) }
  const { additionalGenericPatterns = [] } = (config ?? {}) as Partial<Static<typeof smartConfig>>
  const isGeneric =
    strategy === 'smart' &&
    embeddedTitle !== null &&
    isGenericTitle(embeddedTitle, additionalGenericPatterns)
  const inName = markersOf(stem)
  return {
    title: embeddedTitle === null || isGeneric ? stem : embeddedTitle,
    volume: toInteger(book.volume) ?? inName.volume,
    chapter: book.chapter ?? inName.chapter,
  }
}

const generic =
  /^(?:(?:Vol\.|Volume|Chapter|Part|Ep\.|Episode) ?\d{1,9}(?:\.\d{1,9})?|(?:Issue ?)?#?\d{1,9}(?:\.\d{1,9})?)$/

function isGenericTitle(title: string, patterns: string[]): boolean {
  return (
    generic.test(title) ||
    patterns.some(source => {
      const pattern = tryPattern(source)
      return pattern !== null && matchPattern(pattern, title) !== null
    })
  )
}

function markersOf(stem: string): { volume: number | null; chapter: number | null } {
  const { volume, chapter } = parseFilename(stem)
  return { volume: toInteger(volume), chapter }
}

function toInteger(value: number | null | undefined): number | null {
  return Number.isSafeInteger(value) ? (value ?? null) : null
}

function bySeriesName(book: BookFacts): BookNaming {
  const stem = stemOf(book.fileName)
  const inName = markersOf(stem)
  const volume = toInteger(book.volume) ?? placedNumber(book.placedVolume) ?? inName.volume
  const chapter = book.chapter ?? inName.chapter
  const total = book.total ?? 0
  const width = total < 100 ? 2 : total < 1_000 ? 3 : 4
  const naming = { volume, chapter }
  if (book.series && volume !== null && chapter !== null) {
    const chapters = padded(chapter, total < 1_000 ? 3 : 4)
    return { title: `${book.series} v.${padded(volume, 2)} c.${chapters}`, ...naming }
  }
  const number = book.number ?? null
  if (!book.series || number === null) return { title: stem, ...naming }
  return { title: `${book.series} v.${padded(number, width)}`, ...naming }
}

/** The volume number, unless it is just a folder name. */
export function placedNumber(volume: string | number | null | undefined): number | null {
  return typeof volume === 'string' ? toInteger(parseFilename(volume).volume) : toInteger(volume)
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
  const fallbackNaming = nameBook(fallback === 'custom' ? 'filename' : fallback, null, book)
  if (!groups) return fallbackNaming
  const template = titleTemplate || (groups.title ? '{title}' : '')
  const filled = fillTemplate(template, { ...groups, filename: stem })
  const title = filled.replace(/ {2,}/g, ' ').trim() || fallbackNaming.title
  const chapter = /^\d{1,9}(?:\.\d{1,9})?$/.test(groups.chapter ?? '')
    ? Number(groups.chapter)
    : null
  const volume = /^\d{1,9}$/.test(groups.volume ?? '') ? Number(groups.volume) : null
  return { title, volume, chapter }
}
