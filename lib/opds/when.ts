// Times as feeds write them.
import type { Feed } from './feed.ts'
import type { Writing } from './writing.ts'

/** RFC 3339, in UTC, to the second below. */
export const stamp = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`

/** When the newest of what a feed shows last changed; never now, or nothing could be kept by anyone. */
export function feedUpdated(feed: Feed, { changed }: Pick<Writing, 'changed'>): Date {
  const shown = feed.kind === 'acquisition' ? feed.books : feed.entries
  if (shown.length === 0) return feed.updated ?? changed
  return new Date(Math.max(...shown.map(({ updated }) => Number(updated ?? changed))))
}

/** The start of a date that may be no more than a year or a month: `2020-01` is 2020-01-01T00:00:00Z. */
export const startOf = (date: string): string =>
  `${date}${'-01-01'.slice(date.length - 4)}T00:00:00Z`
