// Identity of a reading device from the id and name that its client states.
import { hash } from 'node:crypto'
import type { ReadingDevice } from './device.ts'

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
