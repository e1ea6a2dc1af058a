// Settings in the database: read, cached per process, observed for changes, written with a history.
import type { Sql } from 'postgres'
import type { Queryable } from '../postgres/db.ts'
import { type SettingKey, type SettingValue, settingDefault, settingKeys } from './definition.ts'

/** The current value from the database. A stored value of the wrong type counts as not set. */
export async function fetchSetting<K extends SettingKey>(
  sql: Queryable,
  key: K,
): Promise<SettingValue<K>> {
  const [row] = await sql<{ value: unknown }[]>`select value from setting where key = ${key}`
  return valueOrDefault(key, row?.value)
}

function valueOrDefault<K extends SettingKey>(key: K, value: unknown): SettingValue<K> {
  const defaultValue = settingDefault(key)
  return typeof value === typeof defaultValue ? (value as SettingValue<K>) : defaultValue
}

/** Receives the key of a changed setting; null if any may have changed, after a lost connection. */
type ChangeListener = (key: string | null) => void

export type Settings = ReturnType<typeof openSettings>

/** The settings as known to this process, cached until any process changes them. */
export function openSettings(pool: Sql) {
  const values = new Map<string, unknown>()
  const listeners = new Set<ChangeListener>()
  let listening: Promise<unknown> | null = null
  /** Incremented by every change. */
  let generation = 0

  const clear = () => {
    generation += 1
    values.clear()
  }
  const onNotification: ChangeListener = key => {
    clear()
    for (const listener of listeners) listener(key)
  }
  const listen = () => {
    // Also called after a lost connection, because notifications may have been missed.
    listening ??= pool
      .listen('setting', onNotification, () => onNotification(null))
      .catch(error => {
        listening = null
        throw error
      })
    return listening
  }

  return {
    /** The current value. */
    async cached<K extends SettingKey>(key: K): Promise<SettingValue<K>> {
      await listen()
      while (!values.has(key)) {
        const before = generation
        const value = await fetchSetting(pool, key)
        // A change during the read may be newer than the value, also for callers who joined the read later.
        if (generation === before) values.set(key, value)
      }
      return values.get(key) as SettingValue<K>
    },
    /**
     * Calls `listener` whenever one of the settings may have changed, in any process; subsequent reads return
     * the new value. Returns a function that unsubscribes.
     */
    async onChange(keys: readonly SettingKey[], listener: () => void): Promise<() => void> {
      const onChange: ChangeListener = key => {
        if (key === null || keys.includes(key as SettingKey)) listener()
      }
      await listen()
      listeners.add(onChange)
      return () => void listeners.delete(onChange)
    },
    /** Like writeSettings, but this process sees the new values immediately. */
    async write(changes: SettingChange[], author: SettingAuthor): Promise<void> {
      await writeSettings(pool, changes, author)
      clear()
    },
  }
}

export type StoredSetting = {
  key: SettingKey
  value: unknown
  version: number
  updatedAt: Date
  updatedBy: string | null
}

/** All settings, or those of `keys`, with their current values, sorted by key. */
export async function listSettings(sql: Queryable, keys: readonly SettingKey[] = settingKeys) {
  // A setting that was never changed has the date of the installation.
  const rows = await sql<StoredSetting[]>`
    select k.key, s.value, coalesce(s.version, 1) as version,
      coalesce(s.updated_at, (select min(applied_at) from schema_migration)) as "updatedAt",
      a.username as "updatedBy"
    from unnest(${keys as string[]}::text[]) as k(key)
    left join setting s on s.key = k.key
    left join account a on a.id = s.updated_by
    order by k.key`
  return rows.map(row => ({ ...row, value: valueOrDefault(row.key, row.value) }))
}

export type SettingChange = { key: SettingKey; value: SettingValue }
/** Who changes a setting, why, and from where. */
export type SettingAuthor = {
  accountId: string
  username: string
  reason: string | null
  address: string | null
}

/** Writes all changes or none, each with a history entry; skips unchanged values. */
export async function writeSettings(sql: Sql, changes: SettingChange[], author: SettingAuthor) {
  const latest = new Map(changes.map(change => [change.key, change.value]))
  const rows = [...latest]
    .map(([key, value]) => ({ key, value }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  await sql.begin(async tx => {
    // An advisory lock, because rows that do not exist yet cannot be locked.
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.setting'))`
    const before = new Map(
      (await listSettings(tx, [...latest.keys()])).map(row => [row.key, row.value]),
    )
    const changed = rows
      .filter(row => before.get(row.key) !== row.value)
      .map(row => ({ ...row, old: before.get(row.key) }))
    if (changed.length === 0) return
    await tx`
      with change as (
        select * from jsonb_to_recordset(${tx.json(changed as never)}) as g(key text, value jsonb, old jsonb)
      ), stored as (
        insert into setting as s (key, value, version, updated_by)
        select key, value, 2, ${author.accountId} from change
        on conflict (key) do update
        set value = excluded.value, version = s.version + 1, updated_at = now(),
          updated_by = excluded.updated_by
      ), history as (
        insert into setting_change (id, key, old_value, new_value, account_id, username, reason,
          address, changed_at)
        select gen_random_uuid(), key, old, value, ${author.accountId}, ${author.username}, ${author.reason},
          ${author.address},
          -- Not now(), the time before the transaction waited for the lock.
          clock_timestamp()
        from change
      )
      select pg_notify('setting', key) from change`
  })
}
