// Browser storage; where it is full or blocked, values last until the page is closed.

type StorageName = 'localStorage' | 'sessionStorage'

/** Values that could not be stored, by key. */
const unstored = new Map<string, string>()

/** The value of a key, null if there is none. */
export function readStorage(key: string, name: StorageName = 'localStorage'): string | null {
  // Storage first: another tab may have stored a newer value.
  return attempt(() => window[name].getItem(key)) ?? unstored.get(key) ?? null
}

/** The value of a key that `writeStorage` got as JSON; null if there is none. */
export function readStoredJson<T>(key: string, name?: StorageName): T | null {
  try {
    return JSON.parse(readStorage(key, name) ?? 'null')
  } catch {
    return null
  }
}

/** The keys that begin with `prefix`. */
export function storedKeys(prefix: string): string[] {
  const keys = [...(attempt(() => Object.keys(localStorage)) ?? []), ...unstored.keys()]
  return keys.filter(key => key.startsWith(prefix))
}

/** Null removes the value. */
export function writeStorage(
  key: string,
  value: string | null,
  name: StorageName = 'localStorage',
): void {
  unstored.delete(key)
  if (value === null) return void attempt(() => window[name].removeItem(key))
  const isStored = attempt(() => {
    window[name].setItem(key, value)
    return true
  })
  if (isStored) return
  // Otherwise an outdated value would come back.
  attempt(() => window[name].removeItem(key))
  unstored.set(key, value)
}

function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
