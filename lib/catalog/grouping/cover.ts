// The member whose cover stands for a collection or a read list: the first that the viewer sees.
import type { Sql } from 'postgres'
import type { Viewer } from '../../auth/viewer.ts'
import { booksOfReadList, seriesOfCollection } from './contents.ts'
import type { Grouping } from './grouping.ts'

/** Its id; null when nothing is hidden from the viewer and there is none. Throws NotFound. */
export async function coverMember(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  id: string,
): Promise<string | null> {
  const contents = grouping.contents === 'series' ? seriesOfCollection : booksOfReadList
  const [first] = (await contents(sql, viewer, { id, withEmpty: false, page: 1, pageSize: 1 })).ids
  return first ?? null
}
