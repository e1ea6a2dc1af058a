// postgres.js, with a few lines of its 3.4.9 mended as they are loaded. When a connection was lost in the
// middle of a transaction, the next statement ended the whole process (it wrote to a socket that was
// null), was never answered, or went to whoever used the connection next; what was left of the old
// connection (an unsent statement, an error) spoilt the greeting of the new one; a
// reserved connection came back into the pool as an open one; and a loss during the greeting was an
// unhandled rejection.
import { registerHooks } from 'node:module'

const repairs: Record<string, [from: string, to: string][]> = {
  'connection.js': [
    [
      `if (terminated)
      return queryError(q, Errors.connection('CONNECTION_DESTROYED', options))`,
      `if (terminated || socket === null)
      return queryError(q, Errors.connection('CONNECTION_DESTROYED', options)), true`,
    ],
    [
      'incomings = null\n    clearImmediate(nextWriteTimer)\n',
      'incomings = null\n    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n',
    ],
    [
      `!hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))`,
      `if (query || sent.length) error(errorResponse || Errors.connection('CONNECTION_CLOSED', options, socket))
      query = results = errorResponse = null; result = new Result()`,
    ],
    ['return fetchArrayTypes()', 'return fetchArrayTypes().catch(() => {})'],
  ],
  'index.js': [
    [
      'c.reserved = null\n      onopen(c)',
      'c.reserved = null\n      c.queue === closed || onopen(c)',
    ],
    ['let savepoints = 0\n', 'let savepoints = 0, lost = null\n'],
    [
      'connection.onclose = reject)',
      `connection.onclose = e => {
          lost = e
          while (queries.length) queries.shift().reject(e)
          reject(e)
        })`,
    ],
    [
      `c.queue === full
          ? queries.push(q)`,
      `lost ? q.reject(lost) : c.queue === full
          ? queries.push(q)`,
    ],
  ],
}

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const file = /\/postgres\/src\/(connection|index)\.js$/.exec(url)?.[0].split('/').at(-1)
    if (file === undefined) return loaded
    const { source: given } = loaded
    let source = typeof given === 'string' ? given : Buffer.from(given as Uint8Array).toString()
    for (const [from, to] of repairs[file]!) {
      if (!source.includes(from))
        throw new Error(`postgres.js is not the version that is known: ${url}`)
      source = source.replace(from, to)
    }
    return { ...loaded, source }
  },
})
const { default: driver } = await import('postgres')
hooks.deregister()

export const postgres: typeof driver = driver
