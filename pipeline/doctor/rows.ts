// Invariants of the folder tree and of the rows that each book has in other tables. Foreign keys enforce
// other relations between rows.
import type { Sql } from '../../lib/store/postgres/db.ts'
import {
  bookPlaceColumns,
  type DoctorScope,
  type Invariant,
  requeueBooks,
  violationQuery,
} from './invariant.ts'

const booksWithoutPages = ({ sql, libraries }: DoctorScope) => sql`
  select b.id, ${bookPlaceColumns(sql)}
  from book b
  join directory d on d.id = b.directory_id
  where b.library_id = any(${libraries}) and b.missing_at is null
    and b.format is not null and b.error_code is null
    and not exists (select from book_pages p where p.book_id = b.id)
    and ${isNotPending(sql)}`

/** Without this row a book gets no hash and no cover. */
const booksWithoutArtifact = ({ sql, libraries }: DoctorScope) => sql`
  select b.id, ${bookPlaceColumns(sql)}
  from book b
  join directory d on d.id = b.directory_id
  where b.library_id = any(${libraries})
    and not exists (select from book_artifact a where a.book_id = b.id)`

/** A pending file will be read again, which repairs its book. */
function isNotPending(sql: Sql) {
  return sql`not exists (
    select from pending_file f where f.directory_id = b.directory_id and f.name = b.name)`
}

const tablesOfBooks = ['book_artifact', 'book_pages', 'book_summary', 'book_search']

const rowsWithoutBook = ({ sql }: DoctorScope, table: string) => sql`
  select r.book_id from ${sql(table)} r where not exists (select from book b where b.id = r.book_id)`

export const rowInvariants: Invariant[] = [
  {
    name: 'folder tree',
    description: 'Every library with folders has a root folder, and every other folder a parent.',
    check: violationQuery(
      ({ sql, libraries }) => sql`
        select path as place, id::text as note
        from directory
        where library_id = any(${libraries}) and path <> '' and parent_id is null
        union all
        select ''::bytea, 'no root: ' || name
        from library l
        where id = any(${libraries}) and exists (select from directory where library_id = l.id)
          and not exists (select from directory where library_id = l.id and path = '' and length(path) <= 2000)`,
    ),
    repair: repairTree,
  },
  {
    name: 'page lists',
    description: 'Every readable book has a page list.',
    check: violationQuery(booksWithoutPages),
    // The later check of pending files has them read.
    repair: scope => requeueBooks(scope, booksWithoutPages(scope)),
  },
  {
    name: 'rows of covers and hashes',
    description: 'Every book has a row for its cover and hash.',
    check: violationQuery(booksWithoutArtifact),
    async repair(scope) {
      // Reading the files again recreates the rows.
      await requeueBooks(scope, booksWithoutArtifact(scope))
      await scope.sql`
        insert into book_artifact (book_id) select id from (${booksWithoutArtifact(scope)}) lost
        on conflict do nothing`
    },
  },
  {
    name: 'rows of deleted books',
    description: 'Page lists, covers, hashes, summaries and search rows belong to a book.',
    check: violationQuery(scope => {
      const [first, ...others] = tablesOfBooks.map(table => rowsWithoutBook(scope, table))
      return scope.sql`
        select book_id::text as note from (
          ${first!} ${others.map(rows => scope.sql`union ${rows}`)}) orphan`
    }),
    async repair(scope) {
      for (const table of tablesOfBooks)
        await scope.sql`
          delete from ${scope.sql(table)} where book_id in (${rowsWithoutBook(scope, table)})`
    },
  },
]

async function repairTree({ sql, libraries }: DoctorScope) {
  await sql.begin(async tx => {
    await tx`
      insert into directory (id, library_id, path)
      select gen_random_uuid(), l.id, ''
      from library l
      where l.id = any(${libraries}) and exists (select from directory where library_id = l.id)
      on conflict do nothing`
    // In hex, because a name may contain any byte except the slash.
    await tx`
      update directory d
      set parent_id = p.id
      from directory p
      where d.library_id = any(${libraries}) and d.path <> '' and d.parent_id is null
        and p.library_id = d.library_id
        and p.path = decode(
          coalesce(substring(encode(d.path, 'hex') from '^((?:..)*)2f(?:(?!2f)..)*$'), ''), 'hex')`
  })
}
