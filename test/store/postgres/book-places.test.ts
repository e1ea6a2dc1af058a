// A book has a series and a directory of its library: checked by triggers in place of foreign keys.
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
import type { Queryable } from '../../../lib/store/postgres/db.ts'
import { createDatabase } from '../../kit/db.ts'
import { untilBlocked } from '../../kit/row-locks.ts'

const { sql } = await createDatabase(t)
const refused = { code: '23503', constraint_name: 'book_places_in_library' }

type Shelf = { libraryId: string; seriesId: string; directoryId: string }
const mine = await createShelf('mine')
const other = await createShelf('other')

async function createShelf(name: string): Promise<Shelf> {
  const shelf = { libraryId: newId(), seriesId: newId(), directoryId: newId() }
  await sql`insert into library (id, name, root) values (${shelf.libraryId}, ${name}, ${name})`
  await sql`
    insert into directory (id, library_id, path)
    values (${shelf.directoryId}, ${shelf.libraryId}, ${Buffer.from(name)})`
  await sql`
    insert into series (id, library_id, key, name, title, sort_key, search_key)
    values (${shelf.seriesId}, ${shelf.libraryId}, 's', 's', 's', 's', 's')`
  return shelf
}

async function insertBook(db: Queryable, { libraryId, seriesId, directoryId }: Shelf) {
  const id = newId()
  await db`
    insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, title, sort_key,
      search_key, name_key)
    values (${id}, ${libraryId}, ${seriesId}, ${directoryId}, ${Buffer.from(id)}, 1, 1, 'b', 'b', 'b', 'b')`
  return id
}

t.test('a book is stored only with a series and a directory of its library', async t => {
  for (const [what, shelf] of Object.entries({
    'no series': { ...mine, seriesId: newId() },
    'no directory': { ...mine, directoryId: newId() },
    'series of another library': { ...mine, seriesId: other.seriesId },
    'directory of another library': { ...mine, directoryId: other.directoryId },
  }))
    await t.rejects(insertBook(sql, shelf), refused, what)
  const id = await insertBook(sql, mine)
  await t.rejects(sql`update book set series_id = ${other.seriesId} where id = ${id}`, refused)
  await t.rejects(sql`update book set directory_id = ${newId()} where id = ${id}`, refused)
  await t.rejects(sql`update book set library_id = ${other.libraryId} where id = ${id}`, refused)
  const { libraryId, seriesId, directoryId } = other
  await sql`
    update book set library_id = ${libraryId}, series_id = ${seriesId}, directory_id = ${directoryId}
    where id = ${id}`
})

t.test('a series or a directory with books is not deleted', async t => {
  const shelf = await createShelf('with books')
  const id = await insertBook(sql, shelf)
  await t.rejects(sql`delete from series where id = ${shelf.seriesId}`, refused)
  await t.rejects(sql`delete from directory where id = ${shelf.directoryId}`, refused)
  await sql`delete from book where id = ${id}`
  await sql`delete from series where id = ${shelf.seriesId}`
  await sql`delete from directory where id = ${shelf.directoryId}`
})

t.test('a book that is stored while its series is deleted waits, and is refused', async t => {
  const shelf = await createShelf('race')
  let storing: Promise<unknown> = Promise.resolve()
  await sql.begin(async tx => {
    await tx`delete from series where id = ${shelf.seriesId}`
    storing = insertBook(sql, shelf).then(
      () => 'stored',
      error => error,
    )
    await untilBlocked(sql)
  })
  t.match(await storing, refused)
})

t.test('a series that is deleted while a book of it is stored waits, and is retained', async t => {
  const shelf = await createShelf('race 2')
  let deleting: Promise<unknown> = Promise.resolve()
  await sql.begin(async tx => {
    await insertBook(tx, shelf)
    deleting = sql`delete from series where id = ${shelf.seriesId}`.then(
      () => 'deleted',
      error => error,
    )
    await untilBlocked(sql)
  })
  t.match(await deleting, refused)
})
