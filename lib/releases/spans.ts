// Spans of chapters and volumes: sorted, and joined where they touch or overlap.
import type { Span } from '../sources/contract.ts'

/** The spans of a release in the form stored in the ledger; null for none. */
export function normalizedSpans(spans: readonly Span[] | null): Span[] | null {
  const sorted = (spans ?? [])
    .filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end))
    .map(({ start, end }) => ({ start: Math.min(start, end), end: Math.max(start, end) }))
    .sort((a, b) => a.start - b.start || a.end - b.end)
  const joined: Span[] = []
  for (const span of sorted) {
    const last = joined.at(-1)
    // Chapters 1-3 and 4-6 become 1-6.
    const touches =
      last !== undefined &&
      (span.start <= last.end || (Number.isInteger(last.end) && span.start === last.end + 1))
    if (touches) last.end = Math.max(last.end, span.end)
    else joined.push({ ...span })
  }
  return joined.length === 0 ? null : joined
}

/** Sources and users may state any numbers; from 2^53 on, adding 1 changes nothing. */
const maxCovered = 100_000

/** Whether `has` holds for both ends and all whole numbers between them. `size` is how many values it can hold for. */
export function isCovered(
  spans: readonly Span[],
  has: (value: number) => boolean,
  size: number,
): boolean {
  return spans.every(({ start, end }) => {
    if (!(end - start <= Math.min(size, maxCovered)) || !has(start) || !has(end)) return false
    const first = Math.ceil(start)
    for (let i = 0; i <= end - first; i++) if (!has(first + i)) return false
    return true
  })
}
