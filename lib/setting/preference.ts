// Preferences of accounts: JSON values by dotted keys, bounded in number and size.
import type { Sql } from 'postgres'
import { Invalid, TooLarge } from '../errors.ts'
import { json, oneOf, record, type Static, Type, timestamp } from '../schema.ts'

const valueTypes = ['string', 'integer', 'float', 'boolean', 'json'] as const

const longestKey = 255

export const preferenceKey = Type.String({
  maxLength: longestKey,
  pattern: '^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)*$',
  description: 'Words of letters, digits and underscores with dots between.',
})

export const Preference = record(
  {
    key: Type.String(),
    value: json({ description: 'Any JSON.' }),
    valueType: oneOf(valueTypes),
    updatedAt: timestamp(),
  },
  { component: 'Preference' },
)
export type Preference = Static<typeof Preference>

const mostKeys = 1_000
const mostBytes = 64 * 1024
/** Of all values of an account together: what one answer may have to hold. */
const mostBytesOfAll = 4 * 1024 * 1024
const mostLevels = 64

type Row = Omit<Preference, 'valueType'>

export async function listPreferences(sql: Sql, accountId: string): Promise<Preference[]> {
  const rows = await sql<Row[]>`
    select key, value, updated_at as "updatedAt"
    from preference where account_id = ${accountId}
    order by key collate "C"`
  return rows.map(typed)
}

export async function findPreference(
  sql: Sql,
  accountId: string,
  key: string,
): Promise<Preference | null> {
  const [row] = await sql<Row[]>`
    select key, value, updated_at as "updatedAt"
    from preference where account_id = ${accountId} and key = ${key}`
  return row ? typed(row) : null
}

/** Sets all of them or none; answers them in the order of their keys. Throws Invalid and TooLarge. */
export async function writePreferences(
  sql: Sql,
  accountId: string,
  values: Record<string, unknown>,
): Promise<Preference[]> {
  // Of a record's names the schema checks the pattern alone.
  if (Object.keys(values).some(key => key.length > longestKey))
    throw new Invalid(`A key is longer than ${longestKey} characters`)
  const rows = Object.entries(values).map(([key, value]) => ({ key, value: textOf(key, value) }))
  if (rows.length > mostKeys) throw new Invalid(`At most ${mostKeys} preferences`)
  return await sql.begin(async tx => {
    await tx`select 1 from account where id = ${accountId} for no key update`
    await tx`
      insert into preference as p (account_id, key, value)
      select ${accountId}, g.key, g.value::jsonb
      from jsonb_to_recordset(${tx.json(rows)}) as g(key text, value text)
      on conflict (account_id, key) do update set value = excluded.value, updated_at = now()
      where p.value <> excluded.value`
    const [all] = await tx<{ keys: number; bytes: number }[]>`
      select count(*) as keys, coalesce(sum(octet_length(value::text)), 0)::float8 as bytes
      from preference where account_id = ${accountId}`
    if (all!.keys > mostKeys) throw new Invalid(`At most ${mostKeys} preferences`)
    if (all!.bytes > mostBytesOfAll) throw new TooLarge('The preferences are too large together')
    const written = await tx<Row[]>`
      select key, value, updated_at as "updatedAt"
      from preference
      where account_id = ${accountId} and key = any(${rows.map(row => row.key)})
      order by key collate "C"`
    return written.map(typed)
  })
}

/** False when it was not set. */
export async function deletePreference(sql: Sql, accountId: string, key: string): Promise<boolean> {
  const { count } = await sql`
    delete from preference where account_id = ${accountId} and key = ${key}`
  return count > 0
}

function typed(row: Row): Preference {
  return { ...row, valueType: typeOf(row.value) }
}

function typeOf(value: unknown): Preference['valueType'] {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float'
  return typeof value === 'string' || typeof value === 'boolean'
    ? (typeof value as 'string' | 'boolean')
    : 'json'
}

// Half of a surrogate pair, or a zero: JSON.stringify escapes them, and jsonb refuses them.
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

function textOf(key: string, value: unknown): string {
  if (!isShallow(value)) throw new Invalid(`${key} is nested more than ${mostLevels} levels deep`)
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) > mostBytes) throw new TooLarge(`${key} is larger than 64 KiB`)
  if (unstorable.test(text)) throw new Invalid(`${key} holds characters that cannot be stored`)
  return text
}

function isShallow(value: unknown, levels = mostLevels): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every(inner => isShallow(inner, levels - 1))
}
