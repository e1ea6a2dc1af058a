// `stackroom scan` as a process of its own, as a user starts it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { database } from '../kit/db.ts'
import { comic, temporary } from '../kit/library.ts'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')
const { url, sql } = await database(t)
const common = ['--database-url', url, '--data', join(temporary(t), 'data')]

type Options = { onLine?: (line: string, child: ChildProcess) => void }

/** Runs a command to its end. */
async function stackroom(args: string[], { onLine = () => {} }: Options = {}) {
  const child = start(args)
  const said = { stdout: '', stderr: '' }
  child.stdout!.on('data', chunk => {
    said.stdout += chunk
    onLine(String(chunk), child)
  })
  child.stderr!.on('data', chunk => {
    said.stderr += chunk
  })
  const [code] = await once(child, 'close')
  return { ...said, code }
}

function start(args: string[]) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME }
  return spawn(process.execPath, [launcher, ...args, ...common], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function folder(t: Test, files: Record<string, Buffer>) {
  const root = join(temporary(t), 'books')
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), bytes)
  }
  return root
}

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`Row/${i + 1}.cbz`, comic()]))

t.test('--json prints one object with the figures, and the code tells how it went', async t => {
  const twin = comic()
  const root = folder(t, { 'A/1.cbz': comic(), 'A/2.cbz': twin, 'B/2.cbz': twin })
  const first = await stackroom(['scan', root, '--json'])
  t.equal(first.code, 0)
  const summary = JSON.parse(first.stdout)
  const named = [
    ...['found', 'new', 'changed', 'moved', 'missing', 'restored', 'unchanged'],
    ...['unreadableDirectories', 'failed', 'warnings', 'series', 'bytesRead', 'opens', 'seconds'],
    ...['booksPerSecond', 'peakRssBytes'],
  ]
  t.same(named.filter(key => !(key in summary)), [])
  const stages = ['discover', 'extract', 'thumbnail', 'hash', 'dedupe', 'total']
  t.same(Object.keys(summary.seconds), stages)
  t.match(summary, { found: 3, new: 3, changed: 0, series: 2, failed: {}, unchanged: 0 })
  const [groups] = await sql`select count(*)::integer as count from duplicate_book`
  t.equal(groups!.count, 2, 'duplicates are grouped when the command ends')

  writeFileSync(join(root, 'A/broken.cbz'), 'no archive')
  const second = await stackroom(['scan', root, '--json'])
  t.equal(second.code, 1, 'a file failed')
  t.match(JSON.parse(second.stdout), { found: 4, new: 0, unchanged: 3, failed: { not_an_archive: 1 } })
})

t.test('wrong usage and folders that are none end with 2 and a sentence', async t => {
  for (const args of [['scan'], ['scan', '/', '--mode', 'slow'], ['scan', '/nowhere at all']]) {
    const { code, stdout, stderr } = await stackroom(args)
    t.match({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
    t.notMatch(stderr, /\n\s+at /, 'no stack')
  }
})

t.test('--ndjson prints a line a book, also for one that fails, and again when it is hashed', async t => {
  const root = folder(t, { ...many(3), 'Row/broken.cbz': Buffer.from('no archive') })
  const { code, stdout } = await stackroom(['scan', root, '--ndjson'])
  t.equal(code, 1)
  const lines = stdout.trim().split('\n').map(line => JSON.parse(line))
  const of = (outcome: string) => lines.filter(line => line.outcome === outcome)
  t.same(of('new').map(line => line.path).sort(), ['Row/1.cbz', 'Row/2.cbz', 'Row/3.cbz'])
  t.match(of('failed'), [{ path: 'Row/broken.cbz', error: { code: 'not_an_archive' } }])
  t.equal(of('hashed').length, 4)
  t.ok(of('hashed').every(line => /^[0-9a-f]{64}$/.test(line.sha256)))
  const again = await stackroom(['scan', root, '--ndjson'])
  const outcomes = again.stdout.trim().split('\n').map(line => JSON.parse(line).outcome)
  t.same(outcomes, Array(4).fill('unchanged'))
})

t.test('a reader that closes the pipe ends the scan quietly', async t => {
  const root = folder(t, many(120))
  let closed = false
  const { code, stderr } = await stackroom(['scan', root, '--ndjson'], {
    onLine: (_line, child) => {
      closed = true
      child.stdout!.destroy()
    },
  })
  t.ok(closed)
  t.match({ code, stderr }, { code: 141, stderr: '' })
  const next = await stackroom(['scan', root, '--json'])
  t.equal(next.code, 0)
  t.match(JSON.parse(next.stdout), { found: 120, state: 'completed' })
})

t.test('Ctrl-C ends a scan cleanly, and the next one goes on', async t => {
  const root = folder(t, many(300))
  const { code, stderr } = await stackroom(['scan', root, '--ndjson'], {
    onLine: (_line, child) => child.kill('SIGINT'),
  })
  t.match({ code, stderr }, { code: 130, stderr: '' })
  const next = await stackroom(['scan', root, '--json'])
  t.match(JSON.parse(next.stdout), { found: 300, state: 'completed', failed: {} })
  const [books] = await sql`
    select count(*)::integer as count from book b join library l on l.id = b.library_id
    where l.root = ${Buffer.from(root)}`
  t.equal(books!.count, 300)
  t.equal((await stackroom(['doctor'])).code, 0)
})

t.test('a path inside a library scans that part of it', async t => {
  const root = folder(t, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
  await stackroom(['scan', root])
  writeFileSync(join(root, 'A/2.cbz'), comic())
  writeFileSync(join(root, 'B/2.cbz'), comic())
  const part = await stackroom(['scan', join(root, 'A'), '--json'])
  t.match(JSON.parse(part.stdout), { found: 2, new: 1 })
  const one = await stackroom(['scan', join(root, 'B', '2.cbz'), '--ndjson'])
  t.match(one.stdout, '"path":"B/2.cbz"')
  const [libraries] = await sql`
    select count(*)::integer as count from library where position(${Buffer.from(root)} in root) = 1`
  t.equal(libraries!.count, 1)
})

t.test('a scan while the server runs on the same data is done by either', async t => {
  const root = folder(t, many(20))
  const server = start(['serve', '--port', '0'])
  let said = ''
  server.stdout!.on('data', chunk => {
    said += chunk
  })
  for (let left = 400; left > 0 && !said.includes('listens on'); left--) await sleep(25)
  t.match(said, 'listens on')
  const { code, stdout } = await stackroom(['scan', root, '--json'])
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { found: 20, new: 20, failed: {} })
  server.kill('SIGTERM')
  const [ended] = await once(server, 'close')
  t.equal(ended, 0)
})
