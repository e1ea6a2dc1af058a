// Text dump of the database schema: tables, constraints, indexes, functions, triggers and statistics,
// sorted by name.
import { join } from 'node:path'
import type { Sql } from '../../../lib/store/postgres/db.ts'
import { migrationFolder } from '../../../lib/store/postgres/migrate.ts'

export const schemaFile = join(migrationFolder, 'schema.sql')

/** The schema `public` as SQL-like text, without the migration table; equal schemas give equal texts. */
export async function dumpSchema(sql: Sql): Promise<string> {
  const tables = await sql<
    { name: string; persistence: string; options: string | null; columns: string[] }[]
  >`
    select c.relname as name, c.relpersistence as persistence, array_to_string(c.reloptions, ', ') as options,
      array(
        select format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
          || case when col.collcollate = 'C' then ' collate "C"' else '' end
          || case when a.attnotnull then ' not null' else '' end
          || case a.attidentity when 'a' then ' generated always as identity' else '' end
          || case when d.adbin is null then ''
            when a.attgenerated = 's' then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
            else ' default ' || pg_get_expr(d.adbin, d.adrelid) end
        from pg_attribute a
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        left join pg_collation col on col.oid = a.attcollation and col.collname <> 'default'
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        order by a.attnum
      ) || array(
        select format('constraint %I %s', n.conname, pg_get_constraintdef(n.oid))
        from pg_constraint n
        where n.conrelid = c.oid and n.contype <> 'n'
        order by n.conname
      ) as columns
    from pg_class c
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migration'
    order by c.relname collate "C"`
  const rest = await sql<{ text: string }[]>`
    select text from (
      select 1 as kind, i.relname as name, pg_get_indexdef(x.indexrelid) as text
      from pg_index x
      join pg_class i on i.oid = x.indexrelid
      join pg_class c on c.oid = x.indrelid
      where c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migration'
        and not exists (select from pg_constraint n where n.conindid = x.indexrelid and n.contype in ('p', 'u'))
      union all
      select 2, p.proname, pg_get_functiondef(p.oid)
      from pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      union all
      select 3, g.tgname, pg_get_triggerdef(g.oid) from pg_trigger g where not g.tgisinternal
      union all
      select 4, s.relname, format('CREATE SEQUENCE %I', s.relname)
      from pg_class s
      where s.relkind = 'S' and s.relnamespace = 'public'::regnamespace
        and not exists (select from pg_depend d where d.objid = s.oid and d.deptype = 'i')
      union all
      select 5, x.stxname, pg_get_statisticsobjdef(x.oid)
      from pg_statistic_ext x where x.stxnamespace = 'public'::regnamespace
    ) objects
    order by kind, name collate "C", text`
  const header =
    '-- Generated from the migrations by `npm run schema`; a test compares it. Do not edit.\n\n'
  const created = tables.map(({ name, persistence, options, columns }) => {
    const unlogged = persistence === 'u' ? 'UNLOGGED ' : ''
    const storage = options ? ` WITH (${options})` : ''
    return `CREATE ${unlogged}TABLE ${name} (\n  ${columns.join(',\n  ')}\n)${storage};\n`
  })
  return `${header}${created.join('\n')}\n${rest.map(({ text }) => `${text.trimEnd()};\n`).join('')}`
}
