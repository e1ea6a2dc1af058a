// Mutex per key: calls with the same key run one after another, in order.

/** Runs `work` when no other work for `key` runs. An error of earlier work does not affect later work. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>

export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const previous = tails.get(key) ?? Promise.resolve()
    const current = previous.catch(() => {}).then(work)
    tails.set(key, current)
    try {
      return await current
    } finally {
      if (tails.get(key) === current) tails.delete(key)
    }
  }
}
