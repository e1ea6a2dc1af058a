// What administrators change while the server runs: the settings there are, how they are read and
// written. Other rows of the table are the server's own and are not settings.
import { hash } from 'node:crypto'
import type { Sql, TransactionSql } from 'postgres'
import { Invalid, NotFound } from '../errors.ts'

type Kind = 'Boolean' | 'Integer' | 'String'
type Definition = {
  type: Kind
  default: boolean | number | string
  category: string
  description: string
  /** Of an Integer: bounds. Of a String: the longest, in characters. */
  min?: number
  max?: number
  /** Shown as asterisks, also in its history. */
  isSensitive?: true
}

/** Every setting by its key. */
export const settings = {
  'application.name': {
    type: 'String',
    default: 'Stackroom',
    max: 100,
    category: 'Application',
    description: 'Name of this server in clients and feeds.',
  },
  'auth.registration_enabled': {
    type: 'Boolean',
    default: false,
    category: 'Authentication',
    description: 'Lets anyone register an account.',
  },
  'deduplication.enabled': {
    type: 'Boolean',
    default: true,
    category: 'Deduplication',
    description: 'Looks for duplicates after scans that changed something.',
  },
  'display.custom_metadata_template': {
    type: 'String',
    default: '',
    max: 65_536,
    category: 'Display',
    description: 'Template with which clients show custom metadata.',
  },
  'purge.purge_empty_series': {
    type: 'Boolean',
    default: true,
    category: 'Purge',
    description: 'Erases series that a purge leaves without books.',
  },
} as const satisfies Record<string, Definition>

export type SettingKey = keyof typeof settings
type Wide<T> = T extends boolean ? boolean : T extends number ? number : string
export type SettingValue<K extends SettingKey> = Wide<(typeof settings)[K]['default']>

type Db = Sql | TransactionSql

/** The key, if it is that of a setting. Throws NotFound. */
export function settingKey(key: string): SettingKey {
  if (Object.hasOwn(settings, key)) return key as SettingKey
  throw new NotFound('There is no setting of this key')
}

export function definitionOf(key: SettingKey): Definition {
  return settings[key]
}

/** A value of a request as it is stored: JSON of the setting's type, or the same as text. Throws Invalid. */
export function parseSetting(key: SettingKey, given: unknown): boolean | number | string {
  const { type, min, max } = definitionOf(key)
  if (type === 'Boolean') {
    if (given === true || given === 'true') return true
    if (given === false || given === 'false') return false
    throw new Invalid(`${key} must be true or false`)
  }
  if (type === 'Integer') {
    const number = typeof given === 'string' && /^-?\d{1,15}$/.test(given) ? Number(given) : given
    const isRight =
      Number.isSafeInteger(number) &&
      (number as number) >= (min ?? Number.MIN_SAFE_INTEGER) &&
      (number as number) <= (max ?? Number.MAX_SAFE_INTEGER)
    if (isRight) return number as number
    throw new Invalid(`${key} must be a whole number from ${min} to ${max}`)
  }
  if (typeof given !== 'string') throw new Invalid(`${key} must be a text`)
  if (max !== undefined && given.length > max)
    throw new Invalid(`${key} is longer than ${max} characters`)
  return given
}

/** A stored value as it is sent. */
export function settingText(key: SettingKey, value: unknown): string {
  return definitionOf(key).isSensitive ? '********' : String(value)
}

/** Settings have a name and no id of their own; clients of other servers want one. */
export function settingId(key: string): string {
  const hex = hash('sha256', `stackroom setting ${key}`, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

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

type Kept = { values: Map<string, unknown>; era: number; listening: Promise<unknown> }
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

function listen(sql: Sql): Kept {
  const mine: Kept = { values: new Map(), era: 0, listening: Promise.resolve() }
  kept.set(sql, mine)
  const forget = () => forgetSettings(sql)
  // Also after a lost connection: nobody knows what was said meanwhile.
  mine.listening = sql.listen('setting', forget, forget).catch(error => {
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
