// Reading devices of an account, by key; a key is made of the id that a client states.
import { hash } from 'node:crypto'
import type { Queryable, Transaction } from '../store/postgres/db.ts'

export type ReadingDevice = {
  /** Stable id, from the client or derived from its credentials. At most 160 characters. */
  key: string
  /** A name that people recognize, if the client sent one. */
  name: string | null
}

type KnownDevice = ReadingDevice & { id: number }

/** A limit, because some clients send a new id with every request. */
const maxDevices = 1_000
/** Stands for all devices beyond the limit. */
const otherDevice: ReadingDevice = { key: 'other', name: null }

export async function knownDevices(
  tx: Queryable,
  accountId: string,
  devices: readonly ReadingDevice[],
): Promise<KnownDevice[]> {
  const keys = [...new Set([...devices.map(({ key }) => key), otherDevice.key])]
  return await tx<KnownDevice[]>`
    select id, key, name from reading_device
    where account_id = ${accountId} and key = any(${keys})`
}

/**
 * The ids of devices by key, after new devices and names were stored. Beyond the limit the id is that of
 * `other`, and `isFull` is true. The caller holds a lock on the account.
 */
export async function ensureDevices(
  tx: Transaction,
  accountId: string,
  { devices, known }: { devices: readonly ReadingDevice[]; known: readonly KnownDevice[] },
): Promise<{ idOf: (key: string) => number; keyOf: (key: string) => string }> {
  const byKey = new Map(known.map(device => [device.key, device]))
  const named = new Map<string, ReadingDevice>()
  for (const device of devices)
    if (device.name !== null || !named.has(device.key)) named.set(device.key, device)
  const changed = [...named.values()].filter(({ key, name }) => {
    const stored = byKey.get(key)
    return !stored || (name !== null && stored.name !== name)
  })
  if (changed.length > 0) {
    const isRoom = await hasRoom(tx, accountId, changed.length)
    const stored = changed.filter(({ key }) => isRoom || byKey.has(key))
    if (stored.length < changed.length && !byKey.has(otherDevice.key)) stored.push(otherDevice)
    for (const device of await storeDevices(tx, accountId, stored)) byKey.set(device.key, device)
  }
  const keyOf = (key: string) => (byKey.has(key) ? key : otherDevice.key)
  return { idOf: key => byKey.get(keyOf(key))!.id, keyOf }
}

async function hasRoom(tx: Transaction, accountId: string, count: number): Promise<boolean> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from reading_device where account_id = ${accountId}`
  return row!.count + count <= maxDevices
}

/** A device that has no name and reads with an API key is named after the key. */
async function storeDevices(
  tx: Transaction,
  accountId: string,
  devices: readonly ReadingDevice[],
): Promise<readonly KnownDevice[]> {
  return await tx<KnownDevice[]>`
    insert into reading_device as d (account_id, key, name)
    select ${accountId}, n.key, coalesce(n.name, (
      select k.name from api_key k
      where k.account_id = ${accountId} and n.key = 'apikey:' || k.id::text))
    from jsonb_to_recordset(${tx.json(devices as never)}) as n(key text, name text)
    on conflict (account_id, key) do update set name = coalesce(excluded.name, d.name)
    returning id, key, name`
}

export const maxDeviceIdLength = 128
export const maxDeviceNameLength = 100

/** A device by the id from a client's body; a long id is shortened to its digest. */
export function clientDevice({ id, name }: { id: string; name?: string | null }): ReadingDevice {
  const key = printable(id)
  const named = printable(name ?? undefined)?.slice(0, maxDeviceNameLength) ?? null
  if (key === null) return { key: 'legacy', name: named }
  return { key: key.length <= maxDeviceIdLength ? key : `app:${digestOf(key)}`, name: named }
}

/** Text without control characters or surrounding spaces; null if nothing is left. */
export function printable(text: string | undefined): string | null {
  const cleaned = text?.replace(/\p{C}/gu, '').trim()
  return cleaned ? cleaned : null
}

export const digestOf = (text: string) => hash('sha256', text, 'hex').slice(0, 16)
