// Settings in the database: read, remembered, followed and written, with who changed what and why.
import type { Sql, TransactionSql } from 'postgres'
import { definitionOf, type SettingKey, type SettingValue, settings } from './definition.ts'

type Db = Sql | TransactionSql

/** The value as it stands in the database. One that no longer fits its type counts as not set. */
export async function storedSetting<K extends SettingKey>(
  sql: Db,
  key: K,
): Promise<SettingValue<K>> {
  const [row] = await sql<{ value: unknown }[]>`select value from setting where key = ${key}`
  return fitting(key, row?.value) as SettingValue<K>
}

function fitting(key: SettingKey, value: unknown) {
  const standard = definitionOf(key).default
  return typeof value === typeof standard ? value : standard
}

type Kept = {
  values: Map<string, unknown>
  era: number
  followers: Set<Follower>
  listening: Promise<unknown>
}
/** Gets the key of a setting that changed; null when any may have, because the connection was lost. */
type Follower = (key: string | null) => void
const kept = new WeakMap<object, Kept>()

/** The same, remembered by this process until a value changes anywhere. */
export async function readSetting<K extends SettingKey>(
  sql: Sql,
  key: K,
): Promise<SettingValue<K>> {
  const mine = kept.get(sql) ?? listen(sql)
  await mine.listening
  if (mine.values.has(key)) return mine.values.get(key) as SettingValue<K>
  const { era } = mine
  const value = await storedSetting(sql, key)
  // A change that was told meanwhile may be younger than what was read.
  if (mine.era === era) mine.values.set(key, value)
  return value
}

/**
 * Calls `act` whenever one of the settings may have changed, in whatever process; what it reads then is
 * the new value. Answers how to end that.
 */
export async function onSetting(
  sql: Sql,
  keys: readonly SettingKey[],
  act: () => void,
): Promise<() => void> {
  const mine = kept.get(sql) ?? listen(sql)
  const follower: Follower = key => {
    if (key === null || keys.includes(key as SettingKey)) act()
  }
  await mine.listening
  mine.followers.add(follower)
  return () => void mine.followers.delete(follower)
}

function listen(sql: Sql): Kept {
  const mine: Kept = {
    values: new Map(),
    era: 0,
    followers: new Set(),
    listening: Promise.resolve(),
  }
  kept.set(sql, mine)
  const heard: Follower = key => {
    forgetSettings(sql)
    for (const follower of mine.followers) follower(key)
  }
  // Also after a lost connection: nobody knows what was said meanwhile.
  mine.listening = sql
    .listen('setting', heard, () => heard(null))
    .catch(error => {
      kept.delete(sql)
      throw error
    })
  return mine
}

function forgetSettings(sql: object) {
  const mine = kept.get(sql)
  if (!mine) return
  mine.era += 1
  mine.values.clear()
}

export type SettingRow = {
  key: SettingKey
  value: unknown
  version: number
  updatedAt: Date
  updatedBy: string | null
}

/** Every setting, or those of `keys`, as they stand; by key. */
export async function settingRows(
  sql: Db,
  keys: readonly SettingKey[] = Object.keys(settings) as SettingKey[],
): Promise<SettingRow[]> {
  // What was never changed stands since the server was set up.
  const rows = await sql<SettingRow[]>`
    select k.key, s.value, coalesce(s.version, 1) as version,
      coalesce(s.updated_at, (select min(applied_at) from schema_migration)) as "updatedAt",
      a.username as "updatedBy"
    from unnest(${keys as string[]}::text[]) as k(key)
    left join setting s on s.key = k.key
    left join account a on a.id = s.updated_by
    order by k.key`
  return rows.map(row => ({ ...row, value: fitting(row.key, row.value) }))
}

export type Change = { key: SettingKey; value: boolean | number | string }
/** Who changes a setting, why, and from where. */
export type Changer = {
  accountId: string
  username: string
  reason: string | null
  address: string | null
}

/** Writes all of them or none, each with a line of history; what stays as it is is left alone. */
export async function writeSettings(sql: Sql, changes: Change[], by: Changer): Promise<void> {
  const latest = new Map(changes.map(change => [change.key, change.value]))
  const rows = [...latest]
    .map(([key, value]) => ({ key, value }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  await sql.begin(async tx => {
    // Rows that are not there yet cannot be locked one by one.
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.setting'))`
    const before = new Map(
      (await settingRows(tx, [...latest.keys()])).map(row => [row.key, row.value]),
    )
    const moved = rows
      .filter(row => before.get(row.key) !== row.value)
      .map(row => ({ ...row, old: before.get(row.key) }))
    if (moved.length === 0) return
    await tx`
      with given as (
        select * from jsonb_to_recordset(${tx.json(moved as never)}) as g(key text, value jsonb, old jsonb)
      ), stored as (
        insert into setting as s (key, value, version, updated_by)
        select key, value, 2, ${by.accountId} from given
        on conflict (key) do update
        set value = excluded.value, version = s.version + 1, updated_at = now(),
          updated_by = excluded.updated_by
      ), noted as (
        insert into setting_change (id, key, old_value, new_value, account_id, username, reason,
          address, changed_at)
        select gen_random_uuid(), key, old, value, ${by.accountId}, ${by.username}, ${by.reason},
          ${by.address},
          -- Not now(), which is when the transaction began to wait for its turn.
          clock_timestamp()
        from given
      )
      select pg_notify('setting', key) from given`
  })
  forgetSettings(sql)
}
