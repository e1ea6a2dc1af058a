// Requests that arrive slowly: they end after a time, while responses may take any time.
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'tap'
import { startApiWithoutPipeline } from '../kit/server.ts'

test('a body that does not arrive in time is 408; event streams stay open', async t => {
  const receive = { requestTimeoutMs: 300, checkIntervalMs: 50 }
  const all = await startApiWithoutPipeline(t, {}, {}, receive)
  const { key } = await all.createUser('reader')
  const stream = await fetch(`${all.base}/api/v1/events/stream`, { headers: { 'x-api-key': key } })
  t.equal(stream.status, 200)
  const reader = stream.body!.getReader()
  let isEnded = false
  const ended = (async () => {
    while (!(await reader.read()).done);
    isEnded = true
  })()

  const socket = connect(Number(new URL(all.base).port), '127.0.0.1')
  await once(socket, 'connect')
  let response = ''
  socket.on('data', chunk => {
    response += chunk
  })
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  socket.write(
    'POST /api/v1/auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{',
  )
  const drip = setInterval(() => socket.writable && socket.write(' '), 30)
  await closed
  clearInterval(drip)
  t.match(response, /^HTTP\/1\.1 408 /)
  t.match(response, /"error":"RequestTimeout"/)
  t.notOk(isEnded, 'the event stream is open')
  await reader.cancel()
  await ended
})

test('receiving a request has a limit by default, which suffices for covers', async t => {
  const { api } = await startApiWithoutPipeline(t)
  const { server } = api.server
  t.ok(server.requestTimeout >= 60_000 && server.requestTimeout <= 600_000)
  t.ok(server.maxConnections > 1000)
})
