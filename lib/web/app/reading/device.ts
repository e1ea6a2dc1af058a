// This browser as a reading device: a stable id and a readable name.
import { readStorage, writeStorage } from '../api/storage.ts'

const storageKey = 'stackroom.device'
/** Key prefix of outbox entries in browser storage. */
export const outboxPrefix = 'stackroom.reading:'

const browsers = [
  ['Edge', /Edg\//],
  ['Opera', /OPR\//],
  ['Firefox', /Firefox\//],
  ['Chrome', /Chrom(?:e|ium)\//],
  ['Safari', /Safari\//],
] as const
const systems = [
  ['Android', /Android/],
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
] as const

/** The id and name under which reading is recorded. */
export function readingDevice(): { id: string; name: string } {
  let id = readStorage(storageKey)
  if (!id) {
    id = `web-${randomUuid()}`
    writeStorage(storageKey, id)
  }
  return { id, name: deviceName(navigator.userAgent) }
}

function deviceName(userAgent: string): string {
  const nameIn = (names: readonly (readonly [string, RegExp])[]) =>
    names.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const [browser, system] = [nameIn(browsers) ?? 'Browser', nameIn(systems)]
  return system ? `${browser} (${system})` : browser
}

/** A random UUID (version 4). `crypto.randomUUID` exists only over HTTPS. */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
