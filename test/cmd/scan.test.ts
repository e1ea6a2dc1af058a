// `stackroom scan` as a user starts it: what it prints and the code it ends with.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { comic, folderOf, manyComics } from '../kit/library.ts'

const { sql, stackroom } = await commandLine(t)

t.test('--json prints one object with the figures, and the code tells how it went', async t => {
  const twin = comic()
  const root = folderOf(t, { 'A/1.cbz': comic(), 'A/2.cbz': twin, 'B/2.cbz': twin })
  const first = await stackroom(['scan', root, '--json'])
  t.equal(first.code, 0)
  const summary = JSON.parse(first.stdout)
  const named = [
    ...['found', 'new', 'changed', 'moved', 'missing', 'restored', 'unchanged'],
    ...['unreadableDirectories', 'failed', 'warnings', 'series', 'bytesRead', 'opens', 'seconds'],
    ...['booksPerSecond', 'peakRssBytes'],
  ]
  t.same(
    named.filter(key => !(key in summary)),
    [],
  )
  const stages = ['discover', 'extract', 'thumbnail', 'hash', 'dedupe', 'total']
  t.same(Object.keys(summary.seconds), stages)
  t.match(summary, { found: 3, new: 3, changed: 0, series: 2, failed: {}, unchanged: 0 })
  const [groups] = await sql`select count(*)::integer as count from duplicate_book`
  t.equal(groups!.count, 2, 'duplicates are grouped when the command ends')

  writeFileSync(join(root, 'A/broken.cbz'), 'no archive')
  const second = await stackroom(['scan', root, '--json'])
  t.equal(second.code, 1, 'a file failed')
  t.match(JSON.parse(second.stdout), {
    found: 4,
    new: 0,
    unchanged: 3,
    failed: { not_an_archive: 1 },
  })
})

t.test('of several paths each library gets those that are its own', async t => {
  const [first, second] = [manyComics(3), manyComics(2)].map(files => folderOf(t, files))
  await stackroom(['scan', first!, '--json'])
  for (const name of ['Row/8.cbz', 'Row/9.cbz', 'Else/1.cbz']) {
    mkdirSync(dirname(join(first!, name)), { recursive: true })
    writeFileSync(join(first!, name), comic())
  }
  const paths = [join(first!, 'Else'), second!, join(first!, 'Else/1.cbz')]
  const { code, stdout } = await stackroom(['scan', ...paths, '--json'])
  t.equal(code, 0)
  const figures = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  t.match(figures, [
    { found: 1, new: 1 },
    { found: 2, new: 2 },
  ])
  const rest = await stackroom([
    'scan',
    join(first!, 'Row/9.cbz'),
    join(first!, 'Row/1.cbz'),
    '--ndjson',
  ])
  const outcomes = rest.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(record => ['new', 'unchanged'].includes(record.outcome))
    .map(record => `${record.outcome} ${record.path}`)
  t.same(outcomes.sort(), ['new Row/8.cbz', 'new Row/9.cbz', 'unchanged Row/1.cbz'])
})

t.test('wrong usage and folders that are none end with 2 and a sentence', async t => {
  for (const args of [['scan'], ['scan', '/', '--mode', 'slow'], ['scan', '/nowhere at all']]) {
    const { code, stdout, stderr } = await stackroom(args)
    t.match({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
    t.notMatch(stderr, /\n\s+at /, 'no stack')
  }
})

t.test(
  '--ndjson prints a line a book, also for one that fails, and again when it is hashed',
  async t => {
    const root = folderOf(t, { ...manyComics(3), 'Row/broken.cbz': Buffer.from('no archive') })
    const { code, stdout } = await stackroom(['scan', root, '--ndjson'])
    t.equal(code, 1)
    const lines = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    const of = (outcome: string) => lines.filter(line => line.outcome === outcome)
    t.same(
      of('new')
        .map(line => line.path)
        .sort(),
      ['Row/1.cbz', 'Row/2.cbz', 'Row/3.cbz'],
    )
    t.match(of('failed'), [{ path: 'Row/broken.cbz', error: { code: 'not_an_archive' } }])
    t.equal(of('hashed').length, 4)
    t.ok(of('hashed').every(line => /^[0-9a-f]{64}$/.test(line.sha256)))
    const again = await stackroom(['scan', root, '--ndjson'])
    const outcomes = again.stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).outcome)
    t.same(outcomes, Array(4).fill('unchanged'))
  },
)

t.test('a path inside a library scans that part of it', async t => {
  const root = folderOf(t, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
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
