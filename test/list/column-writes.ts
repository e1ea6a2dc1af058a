// Writes to single columns of a table, one at a time, and what each of them makes stale.
import type { Sql, TransactionSql } from 'postgres'

/** `name`: the column as `table.column`, or `insert table` or `delete table`. */
export type Write = { name: string; run(tx: TransactionSql): Promise<unknown> }

/** What a write makes stale. `counts`: the version of lists of books, but no book is to be read again. */
export type Effect = 'book' | 'counts' | 'series' | 'rating' | 'label' | 'grouping' | 'account'
/** With the ids of the books, series and accounts that are named. */
export type Effects = { effects: Effect[]; ids: string[] }

/** A value that differs from that of the column, by type; numbers are the rest. */
const others: Record<string, (column: string) => string> = {
  uuid: () => 'gen_random_uuid()',
  text: column => `coalesce(${column}, '') || 'x'`,
  'text[]': column => `coalesce(${column}, '{}') || array['x']`,
  bytea: column => `coalesce(${column}, '') || 'x'::bytea`,
  boolean: column => `${column} is not true`,
  'timestamp with time zone': column => `coalesce(${column}, now()) + interval '1 day'`,
  jsonb: column => `case when ${column} = '[{}]' then '[]' else '[{}]' end::jsonb`,
}
const greater = (column: string) => `coalesce(${column}, 0) + 1`

/** An update of each column of a row that is not generated, its deletion and its insertion. */
export async function writesOf(sql: Sql, table: string): Promise<Write[]> {
  const columns = await sql<{ name: string; type: string }[]>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and attgenerated = '' and not attisdropped
    order by attnum`
  const names = columns.map(({ name }) => name).join(', ')
  const first = `ctid = (select min(ctid) from ${table})`
  const remove = (tx: TransactionSql) =>
    tx.unsafe(`delete from ${table} where ${first} returning *`)
  return [
    ...columns.map(({ name, type }) => ({
      name: `${table}.${name}`,
      run: (tx: TransactionSql) =>
        tx.unsafe(
          `update ${table} set ${name} = ${(others[type] ?? greater)(name)} where ${first} returning 1`,
        ),
    })),
    { name: `delete ${table}`, run: remove },
    {
      name: `insert ${table}`,
      async run(tx) {
        await tx.unsafe(
          `create temp table removed on commit drop as select * from ${table} where ${first}`,
        )
        await remove(tx)
        await forget(tx)
        return await tx.unsafe(
          `insert into ${table} (${names}) select ${names} from removed returning 1`,
        )
      },
    },
  ]
}

/** Rolled back. */
export async function effectsOf(sql: Sql, { name, run }: Write): Promise<Effects> {
  return await rolledBack(sql, async tx => {
    await forget(tx)
    const written = (await run(tx)) as unknown[]
    if (written.length !== 1) throw new Error(`No row for ${name}`)
    const [row] = await tx<[Effects]>`
      select coalesce(array_agg(distinct effect), '{}') as effects,
        coalesce(array_agg(distinct id) filter (where id is not null), '{}') as ids
      from (
        select case when subject = 'book' and books = '{}' then 'counts' else subject end as effect, i.id
        from list_change left join lateral unnest(books || series) i(id) on true
        union all select 'account', account_id from account_list_change) c`
    return row
  })
}

async function forget(tx: TransactionSql): Promise<void> {
  await tx`delete from list_change`
  await tx`delete from account_list_change`
}

/** The result of statements that leave nothing. */
export async function rolledBack<Result>(
  sql: Sql,
  run: (tx: TransactionSql) => Promise<Result>,
): Promise<Result> {
  const done: { result?: Result } = {}
  await sql
    .begin(async tx => {
      done.result = await run(tx)
      throw done
    })
    .catch(error => {
      if (error !== done) throw error
    })
  return done.result!
}

/** Frees single columns of what holds between rows, so that each can be written alone. */
export async function dropConstraints(sql: Sql): Promise<void> {
  const constraints = await sql<{ name: string; table: string }[]>`
    select quote_ident(conname) as name, conrelid::regclass::text as table from pg_constraint
    where contype in ('f', 'c') and connamespace = 'public'::regnamespace and conrelid <> 0`
  for (const { name, table } of constraints)
    await sql.unsafe(`alter table ${table} drop constraint ${name}`)
  for (const check of ['check_moved_book', 'check_book_places', 'check_no_books'])
    await sql.unsafe(`drop function ${check} cascade`)
}
