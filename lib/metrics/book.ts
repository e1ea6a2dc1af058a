// Books read by the threads, and covers made and shown.
import { counter, histogram } from './registry.ts'

const buckets = [0.01, 0.05, 0.25, 1, 10]
const parsing = histogram('parse_duration_seconds', 'Time that reading a book took.', {
  labels: ['format'],
  buckets,
})
const failures = counter(
  'parse_failures_total',
  'Books that could not be read, by code of error.',
  ['code'],
)
const making = histogram('thumbnail_generate_seconds', 'Time that making a cover took.', {
  buckets,
})
const unmade = counter('thumbnail_failures_total', 'Covers that could not be made.')
const shown = counter(
  'thumbnail_requests_total',
  'Covers that were asked for: there (hit), made for it (made), or a drawing in their place (miss).',
  ['result'],
)

type Read = {
  /** How long a thread was at it; not there when that killed the thread. */
  ms?: number
  same?: boolean
  format?: string | null
  error: { code: string } | null
}

/** Counts books that threads have read; those known by their fingerprint were not read. */
export function countParsed(books: Read[]) {
  for (const { ms, same, format, error } of books) {
    if (error) failures.inc({ code: error.code })
    else if (!same && ms !== undefined) parsing.observe({ format: format ?? 'none' }, ms / 1000)
  }
}

/** Counts covers that threads have made, or could not. */
export function countCovers(covers: Read[]) {
  for (const { ms, error } of covers) {
    if (error) unmade.inc()
    else if (ms !== undefined) making.observe(ms / 1000)
  }
}

export function countShown(result: 'hit' | 'made' | 'miss') {
  shown.inc({ result })
}
