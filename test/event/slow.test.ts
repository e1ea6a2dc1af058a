// Clients that do not read: they hold little memory, and are told the truth when they read again.
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Test, test } from 'tap'
import { tell } from '../../lib/event/publish.ts'
import { newId } from '../../lib/id.ts'
import { serveAlone } from '../kit/server.ts'
import { listen } from '../kit/sse.ts'

const libraryId = newId()
const events = (count: number) => [
  {
    type: 'book_created' as const,
    libraryId,
    books: Array.from({ length: count }, () => ({ id: libraryId, seriesId: libraryId })),
  },
]

/** A connection that asks for the stream, and reads only when it is told to. */
async function lazy(t: Test, base: string, key: string) {
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
    /** Numbers of the messages that came, and the last message of all. */
    async read() {
      socket.resume()
      for (let before = -1; before !== text.length; ) {
        before = text.length
        await sleep(700)
      }
      // Chunks of HTTP end where they please.
      const plain = text.slice(text.indexOf('\r\n\r\n') + 4).replace(/\r\n[0-9a-f]+\r\n/g, '')
      return {
        ids: [...plain.matchAll(/\}\nid: (\d+)\n/g)].map(match => Number(match[1])),
        resyncs: [...plain.matchAll(/event: resync\ndata: (.*)\n/g)].map(m => JSON.parse(m[1]!)),
      }
    },
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** MB that are in use. */
const held = () => {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1024 / 1024
}

test('a client that stops to read for a while gets everything', async t => {
  const all = await serveAlone(t, {}, { slow: 200 })
  const { key } = await all.as('admin')
  const client = await lazy(t, all.base, key)
  for (let i = 0; i < 20; i++) await tell(all.sql, events(2_000))
  await sleep(500)
  const { ids, resyncs } = await client.read()
  t.same(resyncs, [])
  t.equal(ids.length, 40_000)
  t.ok(
    ids.every((id, i) => id === i + 1),
    'each once, in order',
  )
})

test('one that is too far behind is told to load anew, and costs no memory meanwhile', async t => {
  const all = await serveAlone(t, {}, { slow: 200 })
  const { key } = await all.as('admin')
  const clients = await Promise.all(Array.from({ length: 20 }, () => lazy(t, all.base, key)))
  const quick = await listen(t, all.base, { headers: { 'x-api-key': key } })
  await tell(all.sql, events(2_000))
  await quick.until(2_000)
  const before = held()
  for (let i = 0; i < 75; i++) await tell(all.sql, events(2_000))
  while (!quick.text.includes('id: 152000\n', quick.text.length - 1_000)) await sleep(50)
  // What the quick client of this test keeps is not the server's.
  const more = held() - before - quick.text.length / 1024 / 1024
  t.comment(`${Math.round(more)} MB`)
  t.ok(more < 100, `${more} MB for 60 MB of events that 20 clients do not read`)
  const [first] = clients
  const { ids, resyncs } = await first!.read()
  t.equal(resyncs.length, 1)
  t.match(resyncs[0], { type: 'resync', reason: 'slow' })
  t.equal(ids.at(-1), 152_000)
  t.ok(ids.length < 100_000)
  await tell(all.sql, events(1))
  t.equal((await first!.read()).ids.at(-1), 152_001, 'and goes on from there')
})

test('one that takes nothing at all is let go', async t => {
  const all = await serveAlone(t, {}, { stuck: 1_000 })
  const { key } = await all.as('admin')
  const client = await lazy(t, all.base, key)
  const idle = await listen(t, all.base, { headers: { 'x-api-key': key } })
  for (let i = 0; i < 10; i++) await tell(all.sql, events(5_000))
  await idle.until(50_000, 20_000)
  await sleep(7_000)
  // The end shows only once what lies in between is read.
  client.socket.resume()
  for (let left = 1000; left > 0 && !client.isClosed(); left--) await sleep(20)
  t.ok(client.isClosed())
  t.notOk(idle.hasEnded, 'one that has nothing to take stays')
})

test('a server that ends does not wait for those who do not read', async t => {
  const all = await serveAlone(t)
  const { key } = await all.as('admin')
  await lazy(t, all.base, key)
  await tell(all.sql, events(20_000))
  await sleep(300)
  const begun = Date.now()
  await all.api.close()
  t.ok(Date.now() - begun < 5_000, `${Date.now() - begun} ms`)
})
