// Takes away what slows down loading rows, and restores it afterwards: building an index once is several times as fast
// as adding each row to it, and triggers would announce every row as a change.
import type { Transaction } from '../store/postgres/db.ts'

type Detached = { drop: string; create: string }

/** Drops all triggers, references, keys and indexes of the current schema. The result restores them. */
export async function detachConstraints(tx: Transaction): Promise<() => Promise<void>> {
  const triggers = await tx<Detached[]>`
    select format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass) as drop,
      pg_get_triggerdef(t.oid) as create
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and not t.tgisinternal
    order by t.tgname`
  const references = await constraints(tx, ['f'])
  const keys = await constraints(tx, ['p', 'u', 'x'])
  const indexes = await tx<Detached[]>`
    select format('drop index %s', i.indexrelid::regclass) as drop,
      pg_get_indexdef(i.indexrelid) as create
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema()
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype <> 'f')
    order by c.relname`
  for (const { drop } of [...triggers, ...references, ...keys, ...indexes]) await tx.unsafe(drop)
  return async () => {
    for (const { create } of [...keys, ...indexes, ...references, ...triggers])
      await tx.unsafe(create)
  }
}

const constraints = (tx: Transaction, types: string[]) => tx<Detached[]>`
  select format('alter table %s drop constraint %I', k.conrelid::regclass, k.conname) as drop,
    format('alter table %s add constraint %I %s', k.conrelid::regclass, k.conname,
      pg_get_constraintdef(k.oid)) as create
  from pg_constraint k
  join pg_namespace n on n.oid = k.connamespace
  where n.nspname = current_schema() and k.contype = any(${types}) and k.conrelid <> 0
  order by k.conname`
