// The books of a read list as entries of a CBL file.
import type { Viewer } from '../../accounts/viewer.ts'
import { fromVisibleBooks } from '../../catalog/book/visible-books.ts'
import type { WithServices } from '../../store/services.ts'
import { booksOfReadList } from '../grouping/contents.ts'
import { maxMembers } from '../grouping/members.ts'

export type ExportedBook = {
  id: string
  series: string
  number: string | null
  /** Year of the series, otherwise the volume number. */
  volume: number | null
  year: number | null
}

/** The books that the viewer sees, in the order of the list. Throws NotFound. */
export async function exportedBooks(
  db: WithServices,
  viewer: Viewer,
  request: { id: string; withEmpty: boolean },
): Promise<{ name: string; books: ExportedBook[] }> {
  const { sql } = db
  const { ids, grouping } = await booksOfReadList(db, viewer, {
    ...{ ...request, page: 1, pageSize: maxMembers },
  })
  const books = await sql<ExportedBook[]>`
    select b.id, s.title as series, b.number, coalesce(s.year, b.volume) as volume, b.year
    ${fromVisibleBooks(sql, viewer, { ids })}`
  return { name: grouping.name, books: [...books] }
}
