// Rows that must agree with each other.
import type { Sql } from 'postgres'
import { broken, type Invariant, naming, readAgain, type Scope } from './invariant.ts'

const homeless = ({ sql, libraries }: Scope) => sql`
  select b.id, ${naming(sql)}
  from book b
  join directory d on d.id = b.directory_id
  join series s on s.id = b.series_id
  where b.library_id = any(${libraries})
    and (d.library_id <> b.library_id or s.library_id <> b.library_id)
    and ${isNotAwaited(sql)}`

const pageless = ({ sql, libraries }: Scope) => sql`
  select b.id, ${naming(sql)}
  from book b
  join directory d on d.id = b.directory_id
  where b.library_id = any(${libraries}) and b.missing_at is null
    and b.format is not null and b.error_code is null
    and not exists (select from page_list p where p.book_id = b.id)
    and ${isNotAwaited(sql)}`

/** Its file does not wait to be read again, which mends it. */
function isNotAwaited(sql: Sql) {
  return sql`not exists (
    select from found f where f.directory_id = b.directory_id and f.name = b.name)`
}

// `found` is filled here; the check of `found` comes later and has it read.
export const rowInvariants: Invariant[] = [
  {
    name: 'folder tree',
    sentence:
      'Every library with folders has its root among them, and every other folder a parent.',
    look: broken(
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
    repair: growTree,
  },
  {
    name: 'one home',
    sentence: "A book's folder and series belong to the book's library.",
    look: broken(homeless),
    repair: async scope => {
      const { sql } = scope
      await sql.begin(async tx => {
        const inner = { ...scope, sql: tx as unknown as Sql }
        await readAgain(inner, homeless(inner))
        // The counters follow: they are checked after this.
        await tx`
          update book b set library_id = d.library_id
          from directory d
          where d.id = b.directory_id and d.library_id <> b.library_id
            and b.library_id = any(${scope.libraries})`
      })
    },
  },
  {
    name: 'page lists',
    sentence: 'A book that could be read has its list of pages.',
    look: broken(pageless),
    repair: scope => readAgain(scope, pageless(scope)),
  },
]

async function growTree({ sql, libraries }: Scope) {
  await sql.begin(async tx => {
    await tx`
      insert into directory (id, library_id, path)
      select gen_random_uuid(), l.id, ''
      from library l
      where l.id = any(${libraries}) and exists (select from directory where library_id = l.id)
      on conflict do nothing`
    // In hex, because a name may hold any byte but the slash.
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
