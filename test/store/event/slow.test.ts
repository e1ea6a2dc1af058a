// Slow stream clients: they take little memory and are resynchronized when they read again.
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Test, test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { publish } from '../../../lib/store/event/publish.ts'
import { openSseClient } from '../../kit/http/sse.ts'
import { waitUntil } from '../../kit/processes.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

const libraryId = newId()
const events = (count: number) => [
  {
    type: 'book_created' as const,
    libraryId,
    books: Array.from({ length: count }, () => ({ id: libraryId, seriesId: libraryId })),
  },
]

/** A connection to the stream that only reads on request. */
async function openPausedClient(t: Test, base: string, key: string) {
  const { hostname, port } = new URL(base)
  const socket: Socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  let text = ''
  let isClosed = false
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('error', () => {})
  socket.on('data', bytes => {
    text += bytes.toString('latin1')
  })
  socket.write(
    `GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nConnection: keep-alive\r\n\r\n`,
  )
  while (!text.includes(': connected')) await sleep(10)
  socket.pause()
  return {
    socket,
    isClosed: () => isClosed,
    /** Reads up to the event `last`: the ids of all events so far, and the resync messages. */
    async read(last: number) {
      socket.resume()
      // Chunk boundaries of HTTP may be anywhere.
      const plainFrom = (start: number) => text.slice(start).replace(/\r\n[0-9a-f]+\r\n/g, '')
      await waitUntil(() => plainFrom(-4_000).includes(`}\nid: ${last}\n`))
      const plain = plainFrom(text.indexOf('\r\n\r\n') + 4)
      return {
        ids: [...plain.matchAll(/\}\nid: (\d+)\n/g)].map(match => Number(match[1])),
        resyncs: [...plain.matchAll(/event: resync\ndata: (.*)\n/g)].map(m => JSON.parse(m[1]!)),
      }
    },
  }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Memory in use, in MB. */
const usedMb = () => {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1024 / 1024
}

test('a client that pauses for a while receives everything', async t => {
  const all = await startApiWithoutPipeline(t, {}, { slowMs: 200 })
  const { key } = await all.createUser('admin')
  const client = await openPausedClient(t, all.base, key)
  for (let i = 0; i < 20; i++) await publish(all.sql, events(2_000))
  await sleep(500)
  const { ids, resyncs } = await client.read(40_000)
  t.same(resyncs, [])
  t.equal(ids.length, 40_000)
  t.ok(
    ids.every((id, i) => id === i + 1),
    'each once, in order',
  )
})

test('a client too far behind receives a resync, and takes no memory until then', async t => {
  const all = await startApiWithoutPipeline(t, {}, { slowMs: 200 })
  const { key } = await all.createUser('admin')
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => openPausedClient(t, all.base, key)),
  )
  const fast = await openSseClient(t, all.base, { headers: { 'x-api-key': key } })
  await publish(all.sql, events(2_000))
  await fast.waitForEvents(2_000)
  const before = usedMb()
  for (let i = 0; i < 75; i++) await publish(all.sql, events(2_000))
  while (!fast.text.includes('id: 152000\n', fast.text.length - 1_000)) await sleep(50)
  // The text stored by the fast client of this test is not memory of the server.
  const growth = usedMb() - before - fast.text.length / 1024 / 1024
  t.comment(`${Math.round(growth)} MB`)
  t.ok(growth < 100, `${growth} MB for 60 MB of events that 20 clients do not read`)
  const [first] = clients
  const { ids, resyncs } = await first!.read(152_000)
  t.equal(resyncs.length, 1)
  t.match(resyncs[0], { type: 'resync', reason: 'slow' })
  t.equal(ids.at(-1), 152_000)
  t.ok(ids.length < 100_000)
  await publish(all.sql, events(1))
  t.equal((await first!.read(152_001)).ids.at(-1), 152_001, 'and continues from there')
})

test('a client that does not read at all is disconnected', async t => {
  const all = await startApiWithoutPipeline(t, {}, { stuckMs: 4_000, pollMs: 200 })
  const { key } = await all.createUser('admin')
  const client = await openPausedClient(t, all.base, key)
  const idle = await openSseClient(t, all.base, { headers: { 'x-api-key': key } })
  for (let i = 0; i < 10; i++) await publish(all.sql, events(5_000))
  await idle.waitForEvents(50_000)
  const connections = promisify(all.api.server.server.getConnections).bind(all.api.server.server)
  await waitUntil(async () => (await connections()) === 1)
  // The close event comes only after the buffered data is read.
  client.socket.resume()
  await waitUntil(client.isClosed)
  t.notOk(idle.hasEnded, 'an idle client stays connected')
})

test('a server that shuts down does not wait for clients that do not read', async t => {
  const all = await startApiWithoutPipeline(t)
  const { key } = await all.createUser('admin')
  await openPausedClient(t, all.base, key)
  await publish(all.sql, events(20_000))
  await sleep(300)
  const startedAt = Date.now()
  await all.api.close()
  t.ok(Date.now() - startedAt < 30_000, `${Date.now() - startedAt} ms`)
})
