// Dates of releases as sources state them: what PostgreSQL accepts, and what can be a date of a release.

/** RFC 3339 in UTC; null for what is no time, and for times that no release has. */
export function releaseDate(time: string | number): string | null {
  const ms = new Date(time).getTime()
  const isUsual = ms > Date.UTC(1900, 0) && ms < Date.UTC(2200, 0)
  return isUsual ? new Date(ms).toISOString() : null
}
