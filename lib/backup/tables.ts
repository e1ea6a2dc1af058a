// Tables of the database that a backup contains: all but those whose rows end with the installation or the server.
import type { Transaction } from '../store/postgres/db.ts'

export type Table = {
  name: string
  /** Without generated ones, in order. */
  columns: string[]
  /** Approximate size on disk. */
  bytes: number
}

/** Rows of these belong to one installation: a restored one is another, whose old sessions have ended. */
const ofInstallation = [
  'backup',
  'session',
  'client_session',
  'refresh_token',
  'email_verification',
]
/** Rows of these refer to transactions or the start of the database server, or are written by migrations. */
const ofServer = ['account_list_change', 'list_change', 'event_server', 'schema_migration']

/** `all`: also what belongs to the installation, for another database of the same one. */
export type Scope = 'portable' | 'all'

/** In the current schema; unlogged tables are left out. */
export async function tablesIn(tx: Transaction, scope: Scope): Promise<Table[]> {
  const left = scope === 'all' ? ofServer : [...ofServer, ...ofInstallation]
  return await tx<Table[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns,
      max(pg_table_size(c.oid)) as bytes
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid
    where n.nspname = current_schema() and c.relkind = 'r' and c.relpersistence = 'p'
      and c.relname <> all(${left})
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by c.relname
    order by c.relname`
}

/** The statement that reads the rows of a table. */
export function copyOut(tx: Transaction, { name, columns }: Table, scope: Scope) {
  if (name === 'setting' && scope === 'portable')
    return tx`
      copy (
        select ${tx(columns)} from setting
        where key not in ('installation_id', 'jwt_keys', 'setup_token') order by key
      ) to stdout`
  return tx`copy ${tx(name)} (${tx(columns)}) to stdout`
}

export type Sequence = { name: string; value: number | null }

/** Sequences, also those of identity columns, with their last value: null before the first. */
export const sequencesIn = (tx: Transaction) => tx<Sequence[]>`
  select sequencename::text as name, last_value as value
  from pg_sequences
  where schemaname = current_schema()
  order by 1`
