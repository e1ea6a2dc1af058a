// All books of some libraries by when they came: along an index that each library has for itself.
import type { Sql } from 'postgres'
import { inOrder, nearer } from './book-pages.ts'
import type { Direction } from './sort.ts'
import { oneOff } from './unprepared.ts'

type Listed = { ids: string[]; total: number }
type Asked = { direction: Direction; offset: number; limit: number }

/** A page of the present books of these libraries, and how many there are. */
export async function newInLibraries(
  sql: Sql,
  libraryIds: readonly string[],
  { direction, offset, limit }: Asked,
): Promise<Listed> {
  const [all] = await sql<{ total: number }[]>`
    select coalesce(sum(book_count), 0)::float8 as total from library
    where id = any(${libraryIds as string[]}::uuid[])`
  const { total } = all!
  const { skip, take, turned } = nearer({ offset, limit, total })
  if (take === 0) return { ids: [], total }
  const down = (direction === 'desc') !== turned
  const order = down ? sql`created_at desc, id desc` : sql`created_at, id`
  // Each is walked in its order, and the walks are merged.
  const walks = libraryIds.map(
    id => sql`
      (select b.id, b.created_at from book b
      where b.library_id = ${id} and b.missing_at is null order by ${order})`,
  )
  const rows = await oneOff(sql<{ id: string }[]>`
    select id from (${walks.reduce((a, b) => sql`${a} union all ${b}`)}) b
    order by ${order}
    limit ${take} offset ${skip}`)
  return { ids: inOrder(rows, turned), total }
}
