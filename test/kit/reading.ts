// Writing to the reading ledger in tests: devices, and books that exist only in the database.

import { newId } from '../../lib/base/id.ts'
import type { ReadingOrigin } from '../../lib/reading/record.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'

/** One device of the API. */
export const testOrigin: ReadingOrigin = {
  surface: 'api',
  device: { key: 'test-device', name: 'Test device' },
}

/** Inserts a library with one series of books of as many pages each; returns the ids of the books. */
export async function insertBooks(sql: Sql, pageCounts: readonly number[], title = 'Shelf') {
  const [library, folder, series] = [newId(), newId(), newId()]
  await sql`insert into library (id, name, root) values (${library}, ${title}, ${Buffer.from(`/${library}`)})`
  await sql`insert into directory (id, library_id, path) values (${folder}, ${library}, '')`
  await sql`
    insert into series (id, library_id, key, name, name_key, title, sort_key, search_key, book_count)
    values (${series}, ${library}, ${series}, 's', 's', ${title}, 's', 's', ${pageCounts.length})`
  const books = pageCounts.map(pages => ({ id: newId(), pages }))
  await sql`
    insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, page_count,
      title, sort_key, search_key, name_key, format)
    select b.id, ${library}, ${series}, ${folder}, convert_to(b.id::text, 'UTF8'), 1, 1, b.pages,
      'b', 'b', 'b', 'b', 'cbz'
    from jsonb_to_recordset(${sql.json(books)}) as b(id uuid, pages integer)`
  return { library, series, books: books.map(({ id }) => id) }
}
