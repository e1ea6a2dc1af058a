// Number strategies: how the number of a book in its series is determined.
import { isYear } from '../name/dates.ts'
import { type ParsedName, parseFilename } from '../name/filename.ts'
import { sortNumber } from '../name/number.ts'

export const numberStrategies = ['file_order', 'metadata', 'filename', 'smart'] as const
export type NumberStrategy = (typeof numberStrategies)[number]

/** The number as written and its sort value; null if the file order decides. */
export type BookNumber = { text: string | null; sort: number | null }

/**
 * `stem` is the file name without extension, `embedded` the number from the merged metadata. `file_order`
 * always yields null: positions are assigned across the whole series elsewhere.
 */
export function resolveNumber(
  strategy: NumberStrategy,
  stem: string,
  facts: { number?: string | null; series?: string | null },
): BookNumber {
  const embedded = facts.number?.trim() || null
  if (strategy === 'file_order') return { text: null, sort: null }
  if (strategy === 'metadata' || (strategy === 'smart' && embedded)) return numbered(embedded)
  if (strategy === 'smart') return numbered(smartNumber(stem))
  return numbered(numberInName(stem, facts.series ?? null))
}

/**
 * In order of precedence: issue, number next to a volume, volume, chapter, unmarked number, part. A
 * volume precedes a chapter: `v03 c016` is the third volume.
 */
export function numberInName(stem: string, series: string | null = null): string | null {
  const parsed = parseFilename(stem, { series })
  const { number, volume, chapter, part } = parsed
  if (volume !== null && (number === null || chapter !== null)) return String(volume)
  return number ?? (part === null ? numberAsTitle(parsed) : String(part))
}

/** Chapters are numbered across volumes: `Vol. 2 Ch. 9` is the ninth book. */
function smartNumber(stem: string): string | null {
  const parsed = parseFilename(stem)
  const other = parsed.volume ?? parsed.part
  return parsed.number ?? (other === null ? numberAsTitle(parsed) : String(other))
}

// `125 (2022)` is a title, but in a series folder it is the number of the book.
function numberAsTitle({ series }: ParsedName): string | null {
  return series !== null && /^\d{3,4}$/.test(series) && !isYear(series) ? series : null
}

function numbered(text: string | null): BookNumber {
  return { text, sort: text === null ? null : sortNumber(text) }
}
