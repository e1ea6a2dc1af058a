// Plugins as processes: the example, and plugins that hang, die, lie, flood, or use too much memory.
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { test } from 'tap'
import type { TypedRow } from '../../../lib/sources/open.ts'
import type { Scope } from '../../kit/db.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { failing } from '../failing.ts'
import { openTestSources } from '../sources.ts'

const folder = join(import.meta.dirname, '..', 'plugins')
const call = { signal: new AbortController().signal }
const isLinux = process.platform === 'linux'

function openPlugins(t: Scope, pace = { idleMs: 60_000, restartMs: 1 }) {
  const workFolder = join(temporaryFolder(t), 'plugins')
  return { sources: openTestSources(t, { plugins: { folder, workFolder, pace } }), workFolder }
}

const rowOf = (plugin: string, config: object = {}, credentials = {}): TypedRow => ({
  id: `id-of-${plugin}`,
  type: 'plugin',
  name: 'plugin:test',
  displayName: 'Test',
  config: { plugin, timeoutSeconds: 120, ...config },
  credentials,
  description: {
    name: 'test',
    displayName: 'Test',
    version: '1',
    homepage: null,
    capabilities: ['metadata', 'releases'],
    releaseSources: [],
  },
})

test('the example plugin answers every call', async t => {
  const { sources, workFolder } = openPlugins(t)
  const row = rowOf('example.ts', { settings: { language: 'de' } })
  sources.checkConfig(row)
  const source = sources.open(row)
  const description = await source.describe(call)
  t.same(description.capabilities, ['metadata', 'releases'])
  t.ok(existsSync(join(workFolder, row.id)), 'it works in a folder of its own')
  const hits = await source.searchSeries!({ query: 'example 42', limit: 3 }, call)
  t.match(hits[0], { externalId: 'work-42', relevance: 1 })
  t.equal(hits.length, 3)
  const series = await source.fetchSeries!('work-42', call)
  t.match(series, { externalId: 'work-42', metadata: { title: 'Example 42', language: 'de' } })
  t.equal(await source.fetchSeries!('unknown', call), null)
  let cursor: unknown = null
  let count = 0
  for (let isLast = false; !isLast; ) {
    const page = await source.listReleases!({ key: 'new', cursor, series: [] }, call)
    count += page.items.length
    ;({ cursor, isLast } = page)
  }
  t.equal(count, 600)
  const tracked = { seriesId: '1', titles: ['Example 7'], externalIds: {} }
  const own = await source.listReleases!(
    { key: 'by-series', cursor: null, series: [tracked] },
    call,
  )
  t.same(own.items[0]!.volumes, [{ start: 7, end: 7 }])

  const needy = sources.open(rowOf('example.ts', { settings: { needsToken: true } }))
  await t.rejects(
    needy.describe(call),
    failing({ kind: 'status', message: 'Test: A token is needed' }),
  )
  await sources.remove(row.id)
  t.notOk(existsSync(join(workFolder, row.id)))
})

test('a plugin that misbehaves costs its own call', async t => {
  const { sources } = openPlugins(t)
  const kinds = {
    die: 'unreachable',
    kill: 'unreachable',
    text: 'invalid',
    'wrong-id': 'invalid',
    'wrong-shape': 'invalid',
    'wrong-url': 'invalid',
    flood: 'too_large',
    ...(isLinux ? { memory: 'too_large' } : {}),
  }
  for (const [mode, kind] of Object.entries(kinds)) {
    const source = sources.open(rowOf('misbehaving.mjs', { settings: { mode }, memoryMb: 200 }))
    await t.rejects(source.describe(call), failing({ name: 'SourceFailure', kind }), mode)
  }
  const good = sources.open(rowOf('misbehaving.mjs', { settings: { mode: 'good' } }))
  t.equal((await good.describe(call)).name, 'misbehaving', 'and works when it behaves again')

  const hanging = { settings: { mode: 'hang' }, timeoutSeconds: 1 }
  const slow = sources.open(rowOf('misbehaving.mjs', hanging))
  await t.rejects(slow.describe(call), failing({ kind: 'timeout' }))
  const stop = new AbortController()
  const interrupted = sources
    .open(rowOf('misbehaving.mjs', { settings: { mode: 'hang' } }))
    .describe(stop)
  setTimeout(() => stop.abort(new Error('the server ends')), 20)
  await t.rejects(interrupted, { message: 'the server ends' })

  const { credentials } = { credentials: { token: 's3cret-value' } }
  const open = sources.open(rowOf('misbehaving.mjs', { settings: { mode: 'secret' } }, credentials))
  await t.rejects(open.describe(call), { message: 'Test: cannot sign in with ***' })
  const { displayName } = await sources
    .open(rowOf('misbehaving.mjs', { settings: { mode: 'environment' } }))
    .describe(call)
  const names = displayName.split(' ').filter(name => !/^(?:PWD|_|__CF.*|SHLVL|OLDPWD)$/.test(name))
  t.same(
    names,
    ['HOME', 'LANG', 'PATH', 'TMPDIR'],
    'the environment of the server is not passed on',
  )
})

test('unusual answers of plugins', async t => {
  const { sources } = openPlugins(t)
  const open = (settings: object) => sources.open(rowOf('misbehaving.mjs', { settings }))
  t.equal((await open({ mode: 'null-error' }).describe(call)).name, 'misbehaving')

  const error = (await open({ mode: 'late-retry' })
    .describe(call)
    .catch((error: unknown) => error)) as any
  t.equal(error.kind, 'limited')
  t.ok(error.retryAt <= Date.now() + 24 * 3_600_000, 'at most a day')

  const releasedAt = async (date: string) => {
    const source = open({ mode: 'date', releasedAt: date })
    const { items } = await source.listReleases!({ key: 'x', cursor: null, series: [] }, call)
    return items[0]!.releasedAt
  }
  // PostgreSQL refuses these two texts.
  t.equal(await releasedAt('2024-02-30T00:00:00Z'), '2024-03-01T00:00:00.000Z')
  t.equal(await releasedAt('2024-01-01T23:59:00+23:59'), '2024-01-01T00:00:00.000Z')
  for (const date of ['0000-01-01T00:00:00Z', '9999-01-01T00:00:00Z', '2024-13-01T00:00:00Z'])
    await t.rejects(releasedAt(date), failing({ kind: 'invalid' }), date)
})

test('a plugin that dies is started again after a growing pause', async t => {
  const { sources } = openPlugins(t, { idleMs: 60_000, restartMs: 10_000 })
  const source = sources.open(rowOf('misbehaving.mjs', { settings: { mode: 'die' } }))
  await t.rejects(source.describe(call), failing({ kind: 'unreachable' }))
  const now = Date.now()
  const error = (await source.describe(call).catch((error: unknown) => error)) as any
  t.equal(error.kind, 'limited')
  t.ok(error.retryAt > now && error.retryAt < now + 11_000)
})

test('a plugin that is idle is stopped, and started again by the next call', {
  skip: !isLinux,
}, async t => {
  const file = join(temporaryFolder(t), 'pids')
  const { sources } = openPlugins(t, { idleMs: 100, restartMs: 1 })
  const source = sources.open(rowOf('misbehaving.mjs', { settings: { mode: 'child', file } }))
  await source.describe(call)
  const [first] = readFileSync(file, 'utf8').trim().split('\n')
  for (const pid of first!.split(' ')) t.ok(await hasEnded(pid))
  await source.describe(call)
  t.equal(readFileSync(file, 'utf8').trim().split('\n').length, 2)
})

test('only entries of the folder of plugins can be named', async t => {
  const { sources } = openPlugins(t)
  t.same(sources.describeTypes().plugins, ['example.ts', 'misbehaving.mjs'])
  for (const plugin of ['absent', '../plugins/example.ts', '/bin/sh', '.', '', 'example.ts/../x'])
    t.throws(() => sources.checkConfig(rowOf(plugin)), { name: 'Invalid' }, plugin)
  const none = openTestSources(t)
  t.throws(() => none.checkConfig(rowOf('example.ts')), { name: 'Invalid' })
  await t.rejects(none.open(rowOf('example.ts')).describe(call), failing({ kind: 'unreachable' }))
})

test('modules, executable files and folders with a program are plugins, others are not', t => {
  const own = t.testdir({
    ...{ 'module.mjs': '', program: '#!/bin/sh', 'readme.txt': '' },
    ...{ 'with-program': { plugin: '#!/bin/sh' }, 'with-text': { plugin: '' } },
    ...{ empty: {}, 'folder.mjs': {}, nested: { plugin: {} } },
  })
  for (const path of ['program', 'with-program/plugin']) chmodSync(join(own, path), 0o755)
  symlinkSync('nowhere', join(own, 'broken.mjs'))
  const plugins = { folder: own, workFolder: join(temporaryFolder(t), 'work') }
  const sources = openTestSources(t, { plugins })
  t.same(sources.describeTypes().plugins, ['module.mjs', 'program', 'with-program'])
  t.end()
})

test('the processes of a plugin end with the server, however it ends', {
  skip: !isLinux,
}, async t => {
  const file = join(temporaryFolder(t), 'pids')
  const { sources } = openPlugins(t)
  const row = rowOf('misbehaving.mjs', { settings: { mode: 'child', file } })
  await sources.open(row).describe(call)
  const [first] = readFileSync(file, 'utf8').trim().split('\n')
  await sources.close()
  for (const pid of first!.split(' ')) t.ok(await hasEnded(pid), 'after a shutdown')

  const script = `
    import { createSources } from ${JSON.stringify(new URL('../../../lib/sources/open.ts', import.meta.url).href)}
    const { sources } = JSON.parse(process.argv[1])
    const log = { debug() {}, error() {} }
    await createSources({ http: { allowedNetworks: () => null }, plugins: sources, dumps: {}, log })
      .open(JSON.parse(process.argv[2])).describe({ signal: new AbortController().signal })
    process.kill(process.pid, 'SIGKILL')`
  const plugins = { folder, workFolder: join(temporaryFolder(t), 'work') }
  const args = [JSON.stringify({ sources: plugins }), JSON.stringify(row)]
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, ...args]).catch(
    error => t.equal(error.signal, 'SIGKILL', error.stderr),
  )
  const [, second] = readFileSync(file, 'utf8').trim().split('\n')
  for (const pid of second!.split(' ')) t.ok(await hasEnded(pid), 'after a kill')
})

/** Waits for the end of a process; one that is only not yet reaped has ended. */
async function hasEnded(pid: string): Promise<boolean> {
  for (let i = 0; i < 3_000; i++) {
    try {
      if (/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return true
    } catch {
      return true
    }
    await sleep(10)
  }
  return false
}
