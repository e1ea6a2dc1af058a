// Reconnecting client of the entity event stream: it resumes at the next server with the last id, and
// records what it received.
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export type Listener = ReturnType<typeof listen>

/** `bases` are tried in rotation, starting with `first`. */
export function listen(bases: string[], key: string, first: number) {
  const seen = {
    last: 0,
    count: 0,
    sum: 0,
    twice: 0,
    resyncs: 0,
    connections: 0,
    byType: {} as Record<string, number>,
  }
  let isClosed = false
  let hangUp = () => {}
  let received = () => {}
  const connected = new Promise<void>(resolve => {
    received = resolve
  })

  function take(block: string) {
    const id = Number(/^id: (\d+)$/m.exec(block)?.[1] ?? 0)
    const type = /^event: (\w+)$/m.exec(block)?.[1]
    if (type === undefined) return
    if (type === 'resync') seen.resyncs += 1
    if (id <= seen.last) seen.twice += 1
    seen.last = Math.max(seen.last, id)
    seen.count += 1
    seen.sum += id
    seen.byType[type] = (seen.byType[type] ?? 0) + 1
  }

  const once = (base: string) =>
    new Promise<void>(resolve => {
      const headers: Record<string, string> = { 'x-api-key': key, accept: 'text/event-stream' }
      // Also after a number 0: what came before the first event was not requested.
      if (seen.last > 0) headers['last-event-id'] = String(seen.last)
      const connection = request(
        `${base}/api/v1/events/stream`,
        { headers, agent: false },
        answer => {
          if (answer.statusCode !== 200) {
            answer.resume()
            return resolve()
          }
          seen.connections += 1
          let rest = ''
          answer.setEncoding('utf8')
          answer.on('data', chunk => {
            received()
            const blocks = (rest + chunk).split('\n\n')
            rest = blocks.pop()!
            for (const block of blocks) take(block)
          })
          answer.on('close', resolve)
        },
      )
      connection.on('error', () => resolve())
      hangUp = () => connection.destroy()
      connection.end()
    })

  const done = (async () => {
    for (let turn = first; !isClosed; turn++) {
      await once(bases[turn % bases.length]!)
      if (!isClosed) await sleep(100)
    }
  })()
  return {
    seen,
    /** After the first comment of its first connection. */
    connected,
    /** Begins after this number instead of at the end. */
    from(number: number) {
      seen.last = number
    },
    async close() {
      isClosed = true
      hangUp()
      await done
    },
  }
}
