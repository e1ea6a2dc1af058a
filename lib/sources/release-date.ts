// Dates of releases as sources state them: limited to what PostgreSQL accepts, and what can be a release date.

/** RFC 3339 in UTC; null if it is not a time, or not a possible release date. */
export function releaseDate(time: string | number): string | null {
  const ms = new Date(time).getTime()
  const isUsual = ms > Date.UTC(1900, 0) && ms < Date.UTC(2200, 0)
  return isUsual ? new Date(ms).toISOString() : null
}
