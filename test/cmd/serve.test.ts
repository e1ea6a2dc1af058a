// `stackroom serve` as a user starts and stops it.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { folderOf, manyComics } from '../kit/library.ts'

const { sql, start, stackroom } = await commandLine(t)

/** Started, with what it prints and where it listens. */
async function served(args: string[] = []) {
  const child = start(['serve', '--port', '0', ...args])
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', chunk => {
      said[name] += chunk
    })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  t.teardown(() => child.kill('SIGKILL'))
  await until(() => /Setup token/.test(said.stdout), child)
  const base = /listens on (\S+)/.exec(said.stdout)?.[1] ?? ''
  return { child, said, base, ended }
}

async function until(holds: () => boolean | Promise<boolean>, child: ChildProcess) {
  for (let left = 600; left > 0 && child.exitCode === null; left--) {
    if (await holds()) return
    await sleep(50)
  }
  throw new Error('it does not come')
}

t.test('a folder is added, scanned and served; SIGTERM ends it in order', async t => {
  const root = folderOf(t, manyComics(5))
  const { child, said, base, ended } = await served([
    '--library',
    root,
    '--library',
    '/nowhere at all',
  ])
  t.equal((await fetch(`${base}/health`)).status, 200)
  await until(() => /completed/.test(said.stdout), child)
  await until(() => /nowhere at all/.test(said.stderr), child)
  t.match(said.stderr, /nowhere at all.+cannot be read/, 'a folder that is away harms nobody')
  t.equal((await fetch(`${base}/health`)).status, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const [scan] = await sql`select state from scan`
  t.equal(scan!.state, 'completed')
})

t.test('a request that was begun is answered before it ends', async t => {
  const { child, base, ended } = await served()
  const { hostname, port } = new URL(base)
  const body = JSON.stringify({ username: 'nobody', password: 'wrong' })
  const socket = connect(Number(port), hostname)
  let said = ''
  socket.on('data', chunk => {
    said += chunk
  })
  socket.write(
    `POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  await sleep(200)
  child.kill('SIGTERM')
  await until(
    () =>
      fetch(`${base}/health`).then(
        () => false,
        () => true,
      ),
    child,
  )
  t.equal(child.exitCode, null, 'takes nobody in any more, and waits')
  socket.write(body.slice(5))
  await once(socket, 'close')
  t.match(said, /^HTTP\/1\.1 401 /)
  t.equal(await ended, 0)
})

t.test('a second signal ends it at once', async t => {
  const { child, base, ended } = await served()
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write('POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{')
  await sleep(200)
  child.kill('SIGTERM')
  await sleep(300)
  t.equal(child.exitCode, null)
  child.kill('SIGTERM')
  t.equal(await ended, 130)
  socket.destroy()
})

t.test('a port that is taken is a sentence, no stack', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as { port: number }
  const { code, stderr } = await stackroom(['serve', '--port', String(port)])
  t.equal(code, 2)
  t.match(stderr, new RegExp(`Cannot listen on 127\\.0\\.0\\.1, port ${port} \\(EADDRINUSE\\)`))
  t.notMatch(stderr, /\n\s+at /)
})
