// Settings for requests that must not wait for the database: current values, or the last ones read.
import { setTimeout as sleep } from 'node:timers/promises'
import type { SettingKey, SettingValue } from './definition.ts'
import type { Settings } from './setting.ts'

type LastKnown = <K extends SettingKey>(key: K) => Promise<SettingValue<K> | undefined>

// An unresponsive database holds a statement until its connection is given up.
const waitMs = 300

/**
 * Reads settings. While the database is unavailable or unresponsive, returns the values read last; undefined
 * for one that was never read. Settings in `keys` are read in advance.
 */
export function createLastKnown(
  settings: Pick<Settings, 'cached'>,
  keys: readonly SettingKey[],
): LastKnown {
  const known = new Map<SettingKey, unknown>()
  const reading = new Map<SettingKey, Promise<void>>()
  async function read(key: SettingKey) {
    try {
      known.set(key, await settings.cached(key))
    } catch {
    } finally {
      reading.delete(key)
    }
  }
  async function refresh(key: SettingKey) {
    const running = reading.get(key) ?? read(key)
    reading.set(key, running)
    const timeout = known.has(key) ? [sleep(waitMs, undefined, { ref: false })] : []
    await Promise.race([running, ...timeout])
  }
  for (const key of keys) void refresh(key)
  return async <K extends SettingKey>(key: K) => {
    await refresh(key)
    return known.get(key) as SettingValue<K> | undefined
  }
}
