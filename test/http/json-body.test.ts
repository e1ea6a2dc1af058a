// Long JSON bodies: read one after another, received a few at a time for each account, and of a bounded structure.
import { once } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import { type Test, test } from 'tap'
import { acceptOnlyJson } from '../../lib/http/json/body.ts'
import { bodyLimit, maxBodyBytes, structureFault } from '../../lib/http/limits/body-limit.ts'

const long = JSON.stringify({ text: 'x'.repeat(20_000) })
const json = { 'content-type': 'application/json' }

/** A server with one route, for the account in the header `x-account`. */
function createServer(t: Test, handle: () => unknown) {
  const server = fastify({ bodyLimit: maxBodyBytes })
  server.addHook('onRequest', async request => {
    request.identity = { account: { id: request.headers['x-account'] } } as never
  })
  acceptOnlyJson(server)
  server.post('/', { bodyLimit: maxBodyBytes }, async () => ({ value: handle() }))
  t.teardown(() => server.close())
  return server
}

test('each long body is read in a turn of the event loop of its own', async t => {
  let turn = 0
  const count = () => {
    turn++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  t.teardown(() => clearImmediate(timer))
  const server = createServer(t, () => turn)
  const post = (account: string, payload: string) =>
    server.inject({ method: 'POST', url: '/', headers: { ...json, 'x-account': account }, payload })
  const accounts = Array.from({ length: 12 }, (_, i) => `${i}`)
  const responses = await Promise.all(accounts.map(account => post(account, long)))
  const iterations = responses.map(response => response.json<{ value: number }>().value)
  t.equal(new Set(iterations).size, accounts.length, iterations.join(' '))
  for (const invalid of [`${long.slice(0, -1)}`, `${long.slice(0, -1)},"x":${'['.repeat(500)}`])
    t.equal((await post('a', invalid)).statusCode, 400)
  t.equal((await post('a', long)).statusCode, 200, 'a failed one leaves the queue')
})

test('few long bodies of an account are received at a time', async t => {
  const server = createServer(t, () => 1)
  const base = await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = new URL(base)
  const head = `POST / HTTP/1.1\r\nHost: x\r\nX-Account: slow\r\nContent-Type: application/json\r\nContent-Length: ${long.length}\r\n\r\n`
  const sockets = Array.from({ length: 60 }, () => connect(Number(port), '127.0.0.1'))
  const refused = new Promise<number>(resolve => {
    let count = 0
    for (const socket of sockets)
      socket
        .on('error', () => {})
        .on('data', bytes => {
          t.match(bytes.toString(), /^HTTP\/1.1 429 /)
          if (++count === 8) resolve(count)
        })
        .write(`${head}{`)
  })
  const post = (account: string, body: string) =>
    fetch(base, { method: 'POST', headers: { ...json, 'x-account': account }, body })
  t.equal(await refused, 8, 'two are received, fifty wait')
  t.equal((await post('slow', '{}')).status, 200, 'short ones do not wait')
  t.equal((await post('other', long)).status, 200, 'nor do other accounts')
  const closed = sockets.map(socket => once(socket, 'close'))
  for (const socket of sockets) socket.destroy()
  await Promise.all(closed)
  let after = await post('slow', long)
  while (after.status === 429) after = await post('slow', long)
  t.equal(after.status, 200, 'clients that left take no place')
})

test('an empty body is of no type', async t => {
  const server = createServer(t, () => 1)
  const base = await server.listen({ port: 0, host: '127.0.0.1' })
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json']) {
    const send = (body: string) =>
      fetch(base, { method: 'POST', headers: { 'content-type': type, 'x-account': 'a' }, body })
    t.equal((await send('')).status, 200, type)
    t.equal((await send('a=b')).status, type === json['content-type'] ? 400 : 415)
  }
})

test('the structure of a body is bounded', t => {
  t.equal(
    structureFault(JSON.stringify({ a: new Array(9000).fill(1), b: '[{,'.repeat(9000) })),
    null,
  )
  const listOf = (values: number) => `[${'1,'.repeat(values - 1)}1]`
  t.equal(structureFault(listOf(20_999)), null, '21,000 values with the list')
  t.equal(structureFault(listOf(21_000)), 'The body has more than 21000 values')
  const nested = (levels: number) =>
    `{"a":"\\"[","b":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  t.equal(structureFault(nested(200)), null)
  t.match(structureFault(nested(201)), /deep/)
  t.equal(structureFault(`[${'[{"a":{}}],'.repeat(4_000)}1]`), null, 'many, but not deep')
  t.equal(bodyLimit({ permission: 'public' }), 16 * 1024)
  t.end()
})
