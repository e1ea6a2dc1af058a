// Failed requests: log levels with and without their client, conditions that pass.
import { once } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import { openLog } from '../../lib/base/log.ts'
import { native } from '../../lib/http/dialect/native.ts'
import { errorResponse } from '../../lib/http/error-response.ts'
import { inputOf } from '../../lib/http/exchange.ts'

type Line = { level: number; msg: string }

/** The level of the log line of a request that fails with this error, while its client waits or after it has left. */
async function levelOf(error: unknown, leaves: boolean) {
  const lines: Line[] = []
  const log = openLog({ level: 'debug' }, { write: line => void lines.push(JSON.parse(line)) })
  const server = fastify()
  const { promise: failed, resolve } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  server.setErrorHandler((thrown, request, reply) => {
    const response = errorResponse({ log, dialect: native }, thrown, request, reply)
    resolve()
    return response
  })
  server.get('/', async (request, reply) => {
    const { signal } = inputOf(request, reply).input
    begin()
    if (leaves && !signal.aborted) await once(signal, 'abort')
    throw error
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await begun
  if (leaves) socket.destroy()
  else socket.resume()
  await failed
  await server.close()
  return lines.map(({ level }) => level)
}

const [debug, warn, failure] = [20, 40, 50]
const aborted = () => AbortSignal.abort().reason as unknown
const cancelled = () => Object.assign(new Error('canceling statement'), { code: '57014' })

t.test('an abort is of no interest after the client has left', async t => {
  t.same(await levelOf(aborted(), true), [debug])
  t.same(await levelOf(cancelled(), true), [debug])
  t.same(await levelOf(new TypeError('bug'), true), [failure])
})

t.test('an abort with the client still there is an error', async t => {
  t.same(await levelOf(aborted(), false), [failure])
  t.same(await levelOf(cancelled(), false), [warn])
})

t.test('conditions that pass are answered with 503 and a time to wait', async t => {
  const server = fastify()
  const log = openLog({ level: 'silent' })
  let code = ''
  server.setErrorHandler((thrown, request, reply) =>
    errorResponse({ log, dialect: native }, thrown, request, reply),
  )
  server.get('/', async () => {
    throw Object.assign(new Error('of the driver'), { code })
  })
  const passing = ['25006', '40001', '40P01', '53200', '53300', '53400', '55P03', '57P01', '57P03']
  for (code of [...passing, 'EMFILE', 'ENFILE']) {
    const { statusCode, headers, body } = await server.inject('/')
    t.match({ statusCode, headers }, { statusCode: 503, headers: { 'retry-after': /^\d+$/ } }, code)
    t.match(JSON.parse(body), { error: 'ServiceUnavailable', message: /try again/ }, code)
  }
  for (code of ['58030', 'XX001', '42P01', 'EIO'])
    t.equal((await server.inject('/')).statusCode, 500, code)
  await server.close()
})
