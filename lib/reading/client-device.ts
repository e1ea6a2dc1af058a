// Identity of a reading device by the id and the name that its client states.
import { hash } from 'node:crypto'
import type { ReadingDevice } from './device.ts'

export const maxDeviceIdLength = 128
export const maxDeviceNameLength = 100

/** A device by the id that a client wrote into a body; a long one is shortened to its digest. */
export function clientDevice({ id, name }: { id: string; name?: string | null }): ReadingDevice {
  const key = printable(id)
  const named = printable(name ?? undefined)?.slice(0, maxDeviceNameLength) ?? null
  if (key === null) return { key: 'legacy', name: named }
  return { key: key.length <= maxDeviceIdLength ? key : `app:${digestOf(key)}`, name: named }
}

/** Text without control characters and outer spaces; null if nothing is left. */
export function printable(text: string | undefined): string | null {
  const cleaned = text?.replace(/\p{C}/gu, '').trim()
  return cleaned ? cleaned : null
}

export const digestOf = (text: string) => hash('sha256', text, 'hex').slice(0, 16)
