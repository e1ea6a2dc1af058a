// Account preferences: JSON values with dotted keys, limited in number and size.
import type { Sql } from 'postgres'
import { Invalid, TooLarge } from '../../base/errors.ts'
import { component, json, oneOf, type Static, Type, timestamp } from '../../base/schema.ts'

const valueTypes = ['string', 'integer', 'float', 'boolean', 'json'] as const

const maxKeyLength = 255
/** The only preference that the server itself reads: whether streaming a page through OPDS saves progress. */
export const streamProgressKey = 'opds.stream_progress'

export const preferenceKey = Type.String({
  maxLength: maxKeyLength,
  pattern: '^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)*$',
  description: 'Words of letters, digits and underscores, separated by dots.',
})

export const Preference = component('Preference', {
  key: Type.String(),
  value: json({ description: 'Any JSON value.' }),
  valueType: oneOf(valueTypes),
  updatedAt: timestamp(),
})
export type Preference = Static<typeof Preference>

const maxPreferences = 1_000
const maxValueBytes = 64 * 1024
/** For all values of an account together, since one response may contain them all. */
const maxTotalBytes = 4 * 1024 * 1024
const maxDepth = 64

type Row = Omit<Preference, 'valueType'>

export async function listPreferences(sql: Sql, accountId: string): Promise<Preference[]> {
  const rows = await sql<Row[]>`
    select key, value, updated_at as "updatedAt"
    from preference where account_id = ${accountId}
    order by key collate "C"`
  return rows.map(toPreference)
}

export async function findPreference(sql: Sql, accountId: string, key: string) {
  const [row] = await sql<Row[]>`
    select key, value, updated_at as "updatedAt"
    from preference where account_id = ${accountId} and key = ${key}`
  return row ? toPreference(row) : null
}

/** Sets all values or none and returns them sorted by key. Throws Invalid and TooLarge. */
export async function writePreferences(
  sql: Sql,
  accountId: string,
  values: Record<string, unknown>,
): Promise<Preference[]> {
  // The schema checks the pattern of the keys, but not their length.
  if (Object.keys(values).some(key => key.length > maxKeyLength))
    throw new Invalid(`A key is longer than ${maxKeyLength} characters`)
  const rows = Object.entries(values).map(([key, value]) => ({
    key,
    value: toStorableJson(key, value),
  }))
  if (rows.length > maxPreferences) throw new Invalid(`The limit is ${maxPreferences} preferences`)
  return await sql.begin(async tx => {
    await tx`select 1 from account where id = ${accountId} for no key update`
    await tx`
      insert into preference as p (account_id, key, value)
      select ${accountId}, g.key, g.value::jsonb
      from jsonb_to_recordset(${tx.json(rows)}) as g(key text, value text)
      on conflict (account_id, key) do update set value = excluded.value, updated_at = now()
      where p.value <> excluded.value`
    const [total] = await tx<{ keys: number; bytes: number }[]>`
      select count(*) as keys, coalesce(sum(octet_length(value::text)), 0)::float8 as bytes
      from preference where account_id = ${accountId}`
    if (total!.keys > maxPreferences)
      throw new Invalid(`The limit is ${maxPreferences} preferences`)
    if (total!.bytes > maxTotalBytes) throw new TooLarge('The preferences exceed 4 MiB in total')
    const written = await tx<Row[]>`
      select key, value, updated_at as "updatedAt"
      from preference
      where account_id = ${accountId} and key = any(${rows.map(row => row.key)})
      order by key collate "C"`
    return written.map(toPreference)
  })
}

/** Returns false if the preference did not exist. */
export async function deletePreference(sql: Sql, accountId: string, key: string): Promise<boolean> {
  const { count } = await sql`
    delete from preference where account_id = ${accountId} and key = ${key}`
  return count > 0
}

function toPreference(row: Row): Preference {
  return { ...row, valueType: valueTypeOf(row.value) }
}

function valueTypeOf(value: unknown): Preference['valueType'] {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float'
  return typeof value === 'string' || typeof value === 'boolean'
    ? (typeof value as 'string' | 'boolean')
    : 'json'
}

// Lone surrogates and U+0000: JSON.stringify escapes them, and jsonb rejects them.
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

function toStorableJson(key: string, value: unknown): string {
  if (key === streamProgressKey && typeof value !== 'boolean')
    throw new Invalid(`${key} must be true or false`)
  if (!isShallow(value)) throw new Invalid(`${key} is nested more than ${maxDepth} levels deep`)
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) > maxValueBytes) throw new TooLarge(`${key} is larger than 64 KiB`)
  if (unstorable.test(text)) throw new Invalid(`${key} contains characters that cannot be stored`)
  return text
}

function isShallow(value: unknown, levels = maxDepth): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every(inner => isShallow(inner, levels - 1))
}
