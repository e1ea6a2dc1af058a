// postgres.js, with two lines of its 3.4.9 mended as they are loaded: a statement on a connection that was
// lost in the middle of a transaction ended the whole process (it wrote to a socket that was null),
// and a reserved connection that was lost came back into the pool as an open one.
import { registerHooks } from 'node:module'

const repairs: Record<string, [from: string, to: string]> = {
  'connection.js': [
    `if (terminated)
      return queryError(q, Errors.connection('CONNECTION_DESTROYED', options))`,
    `if (terminated || socket === null)
      return queryError(q, Errors.connection('CONNECTION_DESTROYED', options)), true`,
  ],
  'index.js': [
    'c.reserved = null\n      onopen(c)',
    'c.reserved = null\n      c.queue === closed || onopen(c)',
  ],
}

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const file = /\/postgres\/src\/(connection|index)\.js$/.exec(url)?.[0].split('/').at(-1)
    if (file === undefined) return loaded
    const [from, to] = repairs[file]!
    const source = String(loaded.source)
    if (!source.includes(from))
      throw new Error(`postgres.js is not the version that is known: ${url}`)
    return { ...loaded, source: source.replace(from, to) }
  },
})
const { default: driver } = await import('postgres')
hooks.deregister()

export const postgres: typeof driver = driver
