// When anything that a viewer sees last changed.
import type { Sql } from 'postgres'
import { seesLibrary, type Viewer } from '../auth/viewer.ts'

/** Of the libraries that are seen; the beginning of 1970 without any. */
export async function lastChange(sql: Sql, viewer: Viewer): Promise<Date> {
  const [row] = await sql<{ at: Date | null }[]>`
    select max(greatest(l.updated_at, l.last_scanned_at)) as at
    from library l where ${seesLibrary(sql, viewer)}`
  return row?.at ?? new Date(0)
}
