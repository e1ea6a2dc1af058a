// `stackroom serve`: start, libraries, graceful shutdown, startup errors.
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { findOrCreateLibrary } from '../../lib/catalog/library/library-write.ts'
import { commandLine } from '../kit/command.ts'
import { folderWithFiles } from '../kit/files/folders.ts'
import { comicFiles } from '../kit/library.ts'
import { waitUntil } from '../kit/processes.ts'

const { sql, start, stackroom } = await commandLine(t)

/** A running server, its output and URL. */
async function startServer(args: string[] = []) {
  const child = start(['serve', '--port', '0', ...args])
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', chunk => {
      output[name] += chunk
    })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  t.teardown(() => child.kill('SIGKILL'))
  await waitUntil(() => /Setup token/.test(output.stdout))
  const base = /listening on (\S+)/.exec(output.stdout)?.[1] ?? ''
  return { child, output, base, ended }
}

t.test('a folder is added, scanned and served; SIGTERM shuts down gracefully', async t => {
  const root = folderWithFiles(t, comicFiles(2))
  const { child, output, base, ended } = await startServer(['--library', root])
  t.equal((await fetch(`${base}/health`)).status, 200)
  await waitUntil(() => /completed/.test(output.stdout))
  t.equal((await fetch(`${base}/health`)).status, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.match(output.stdout, /Only this machine can reach it; use --host 0\.0\.0\.0/)
  t.match(output.stdout, /\nStackroom is stopping; .+\n$/)
  const [scan] = await sql`select state from scan`
  t.equal(scan!.state, 'completed')
})

t.test('a folder that is no library and cannot be read ends the start', async t => {
  const root = folderWithFiles(t, comicFiles(1))
  const start = (...paths: string[]) =>
    stackroom(['serve', '--port', '0', ...paths.flatMap(path => ['--library', path])])
  const { code, stdout, stderr } = await start(root, '/nowhere at all')
  t.match({ code, stdout }, { code: 2, stdout: '' })
  t.match(stderr, 'stackroom: /nowhere at all cannot be read (ENOENT)\n')
  const known = folderWithFiles(t, comicFiles(1))
  await findOrCreateLibrary(sql, { root: Buffer.from(known) })
  rmSync(known, { recursive: true })
  const { child, output, ended } = await startServer(['--library', known, '--library', root])
  await waitUntil(() => /unavailable.*completed/s.test(output.stdout))
  t.ok(true, 'a library that is away does not affect the others')
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('a request in progress is answered before the exit', async t => {
  const { child, base, ended } = await startServer()
  const { hostname, port } = new URL(base)
  const body = JSON.stringify({ username: 'unknown', password: 'wrong' })
  const socket = connect(Number(port), hostname)
  let response = ''
  socket.on('data', chunk => {
    response += chunk
  })
  socket.write(
    `POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  // The server has read the headers: the request is running.
  await waitUntil(() => response.includes('100 Continue'))
  socket.write(body.slice(0, 5))
  child.kill('SIGTERM')
  await waitUntil(() =>
    fetch(`${base}/health`).then(
      () => false,
      () => true,
    ),
  )
  t.equal(child.exitCode, null, 'no new connections, but still running')
  socket.write(body.slice(5))
  await once(socket, 'close')
  t.match(response, /\r\n\r\nHTTP\/1\.1 401 /)
  t.equal(await ended, 0)
})

t.test('a second signal exits immediately', async t => {
  const { child, base, ended } = await startServer()
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(
    'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
  )
  await once(socket, 'data')
  child.kill('SIGTERM')
  // Earlier it would be the same signal, sent to the process and to its group. A busy process may notice the
  // first one late.
  await sleep(1_200)
  t.equal(child.exitCode, null)
  child.kill('SIGTERM')
  const again = setInterval(() => child.kill('SIGTERM'), 1_200)
  t.equal(await ended, 143)
  clearInterval(again)
  socket.destroy()
})

t.test('a port in use is reported without a stack', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as { port: number }
  const { code, stderr } = await stackroom(['serve', '--port', String(port)])
  t.equal(code, 2)
  t.match(stderr, new RegExp(`Cannot listen on 127\\.0\\.0\\.1:${port} \\(EADDRINUSE\\)`))
  t.notMatch(stderr, /\n\s+at /)
})
