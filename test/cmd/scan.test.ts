// `stackroom scan`: output formats and exit codes.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { folderWithFiles } from '../kit/files/folders.ts'
import { comic, comicFiles, largeComic } from '../kit/library.ts'

const { sql, stackroom } = await commandLine(t)
const noArchive = Buffer.from('no archive')
// A library that one test after the other extends: a process takes a second to start.
const twin = comic()
const root = folderWithFiles(t, { 'A/1.cbz': comic(), 'A/2.cbz': twin, 'B/2.cbz': twin })
const other = folderWithFiles(t, comicFiles(2))

function add(path: string, bytes = comic()) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), bytes)
}

const records = (stdout: string): any[] =>
  stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

t.test('--json prints one object with the statistics', async t => {
  const { code, stdout } = await stackroom(['scan', root, '--json'])
  t.equal(code, 0)
  const summary = JSON.parse(stdout)
  const expectedKeys = [
    ...['found', 'new', 'changed', 'moved', 'missing', 'restored', 'unchanged'],
    ...['unreadableDirectories', 'failed', 'warnings', 'series', 'bytesRead', 'opens', 'seconds'],
    ...['booksPerSecond', 'peakRssBytes'],
  ]
  t.same(
    expectedKeys.filter(key => !(key in summary)),
    [],
  )
  const stages = ['discover', 'extract', 'thumbnail', 'hash', 'dedupe', 'total']
  t.same(Object.keys(summary.seconds), stages)
  t.match(summary, { found: 3, new: 3, changed: 0, series: 2, failed: {}, unchanged: 0 })
  const [groups] = await sql`select count(*)::integer as count from duplicate_book`
  t.equal(groups!.count, 2, 'duplicates are grouped when the command ends')
})

t.test('several paths are grouped by library; the exit code reports failed files', async t => {
  symlinkSync('gone.cbz', join(other, 'Link.cbz'))
  for (const path of ['C/1.cbz', 'D/8.cbz', 'D/9.cbz']) add(path)
  add('C/broken.cbz', noArchive)
  const paths = [join(root, 'C'), other, join(root, 'C/1.cbz')]
  const { code, stdout } = await stackroom(['scan', ...paths, '--json'])
  t.equal(code, 1, 'a file failed')
  t.match(records(stdout), [
    { found: 2, new: 1, unchanged: 0, failed: { not_an_archive: 1 } },
    { found: 2, new: 2, unreadableDirectories: 0, failed: {} },
  ])
  const [libraries] = await sql`
    select count(*)::integer as count from library where position(${Buffer.from(root)} in root) = 1`
  t.equal(libraries!.count, 1, 'a path inside a library is none of its own')
})

t.test('paths of files scan their folders only', async t => {
  add('A/3.cbz')
  const paths = [join(root, 'D/9.cbz'), join(root, 'B/2.cbz')]
  const { code, stdout } = await stackroom(['scan', ...paths, '--ndjson'])
  t.equal(code, 0)
  const outcomes = records(stdout)
    .filter(record => ['new', 'unchanged'].includes(record.outcome))
    .map(record => `${record.outcome} ${record.path}`)
  t.same(outcomes.sort(), ['new D/8.cbz', 'new D/9.cbz', 'unchanged B/2.cbz'])
})

t.test('what cannot be read is named', async t => {
  // Links were not followed until now.
  await sql`update library set follow_links = true where root = ${Buffer.from(other)}`
  t.match(await stackroom(['scan', other]), {
    code: 1,
    stdout: /unreadable +1\n.*read +(?:\d+ B|\d+\.\d [kMG]B)\n.*peak memory +\d+\.\d [MG]B\n$/s,
    stderr: /\nstackroom: A folder or file could not be read; .+: Link\.cbz\n$/,
  })
})

t.test('wrong usage and missing folders end with exit code 2 and a message', async t => {
  for (const args of [['scan'], ['scan', '/', '--mode', 'slow'], ['scan', '/nowhere at all']]) {
    const { code, stdout, stderr } = await stackroom(args)
    t.match({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
    t.notMatch(stderr, /\n\s+at /, 'no stack')
  }
})

t.test(
  '--ndjson prints a line per book, also for failed ones, and again for a large one when it is hashed',
  async t => {
    add('E/1.cbz', largeComic())
    add('E/broken.cbz', noArchive)
    const known = ['A/1', 'A/2', 'B/2', 'C/1', 'C/broken', 'D/8', 'D/9'].map(name => `${name}.cbz`)
    const { code, stdout } = await stackroom(['scan', root, '--ndjson'])
    t.equal(code, 1)
    const lines = records(stdout)
    const pathsWith = (outcome: string) =>
      lines
        .filter(line => line.outcome === outcome)
        .map(line => line.path)
        .sort()
    const added = ['A/3.cbz', 'E/1.cbz']
    t.same(pathsWith('new'), added)
    t.same(pathsWith('unchanged'), known)
    t.match(
      lines.filter(line => line.outcome === 'failed'),
      [{ path: 'E/broken.cbz', error: { code: 'not_an_archive' } }],
    )
    t.same(pathsWith('hashed'), ['E/1.cbz'])
    const hashed = lines.filter(line => line.sha256 !== null)
    t.ok(hashed.every(line => /^[0-9a-f]{64}$/.test(line.sha256)))
    const all = [...known, ...added, 'E/broken.cbz'].sort()
    t.same(hashed.map(line => line.path).sort(), all, 'small files are hashed when they are read')
    const again = await stackroom(['scan', root, '--ndjson'])
    t.same(
      records(again.stdout).map(line => line.outcome),
      Array(known.length + 3).fill('unchanged'),
    )
  },
)
