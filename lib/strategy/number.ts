// A book's number in its series, as each number strategy finds it.
import { Invalid } from '../errors.ts'
import { parseFilename } from '../name/filename.ts'
import { sortNumber } from '../name/number.ts'

export const numberStrategies = ['file_order', 'metadata', 'filename', 'smart'] as const
export type NumberStrategy = (typeof numberStrategies)[number]

/** As written, and where it sorts; nulls mean that the order of the files decides. */
export type BookNumber = { text: string | null; sort: number | null }

/** Throws Invalid for an unknown strategy. */
export function validateNumberStrategy(strategy: string): NumberStrategy {
  const known = numberStrategies.find(name => name === strategy)
  if (known) return known
  throw new Invalid(
    `There is no number strategy ${strategy}; there are: ${numberStrategies.join(', ')}`,
  )
}

/**
 * `stem` is the file name without extension, `embedded` the number of the merged metadata.
 * `file_order` is always null here: ranks are counted over the whole series elsewhere.
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
 * Issue, then the number beside a volume, the volume, the chapter, a plain number, the part. A
 * volume precedes a chapter: `v03 c016` is bound as the third.
 */
export function numberInName(stem: string, series: string | null = null): string | null {
  const { number, volume, chapter, part } = parseFilename(stem, { series })
  if (volume !== null && (number === null || chapter !== null)) return String(volume)
  return number ?? (part === null ? null : String(part))
}

/** Across volumes it is the chapters that go on counting: `Vol. 2 Ch. 9` is the ninth book. */
function smartNumber(stem: string): string | null {
  const { number, volume, part } = parseFilename(stem)
  const other = volume ?? part
  return number ?? (other === null ? null : String(other))
}

function numbered(text: string | null): BookNumber {
  return { text, sort: text === null ? null : sortNumber(text) }
}
