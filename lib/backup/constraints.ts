// Takes away what slows down loading rows, and restores it afterwards: building an index once is several times as fast
// as adding each row to it, and triggers would announce every row as a change.
import type { Transaction } from '../store/postgres/db.ts'

type Detached = { detach: string; attach: string }

/** Disables all triggers, and drops references, keys and indexes of the current schema. The result restores them. */
export async function detachConstraints(tx: Transaction): Promise<() => Promise<void>> {
  const triggers = await tx<Detached[]>`
    select format('alter table %s disable trigger user', c.oid::regclass) as detach,
      format('alter table %s enable trigger user', c.oid::regclass) as attach
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relkind = 'r'
      and exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal)
    order by c.relname`
  const references = await constraints(tx, ['f'])
  const keys = await constraints(tx, ['p', 'u', 'x'])
  const indexes = await tx<Detached[]>`
    select format('drop index %s', i.indexrelid::regclass) as detach,
      pg_get_indexdef(i.indexrelid) as attach
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema()
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype <> 'f')
    order by c.relname`
  for (const { detach } of [...triggers, ...references, ...keys, ...indexes])
    await tx.unsafe(detach)
  return async () => {
    for (const { attach } of [...keys, ...indexes, ...references, ...triggers])
      await tx.unsafe(attach)
  }
}

const constraints = (tx: Transaction, types: string[]) => tx<Detached[]>`
  select format('alter table %s drop constraint %I', k.conrelid::regclass, k.conname) as detach,
    format('alter table %s add constraint %I %s', k.conrelid::regclass, k.conname,
      pg_get_constraintdef(k.oid)) as attach
  from pg_constraint k
  join pg_namespace n on n.oid = k.connamespace
  where n.nspname = current_schema() and k.contype = any(${types}) and k.conrelid <> 0
  order by k.conname`
