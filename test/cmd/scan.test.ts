// `stackroom scan`: output formats and exit codes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { folderWithFiles } from '../kit/files/folders.ts'
import { comic, comicFiles } from '../kit/library.ts'

const { sql, stackroom } = await commandLine(t)

t.test(
  '--json prints one object with the statistics; the exit code reports failed files',
  async t => {
    const twin = comic()
    const root = folderWithFiles(t, { 'A/1.cbz': comic(), 'A/2.cbz': twin, 'B/2.cbz': twin })
    const first = await stackroom(['scan', root, '--json'])
    t.equal(first.code, 0)
    const summary = JSON.parse(first.stdout)
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

    writeFileSync(join(root, 'A/broken.cbz'), 'no archive')
    const second = await stackroom(['scan', root, '--json'])
    t.equal(second.code, 1, 'a file failed')
    t.match(JSON.parse(second.stdout), {
      found: 4,
      new: 0,
      unchanged: 3,
      failed: { not_an_archive: 1 },
    })
  },
)

t.test('several paths are grouped by library', async t => {
  const [first, second] = [comicFiles(3), comicFiles(2)].map(files => folderWithFiles(t, files))
  await stackroom(['scan', first!, '--json'])
  for (const name of ['Row/8.cbz', 'Row/9.cbz', 'Else/1.cbz']) {
    mkdirSync(dirname(join(first!, name)), { recursive: true })
    writeFileSync(join(first!, name), comic())
  }
  const paths = [join(first!, 'Else'), second!, join(first!, 'Else/1.cbz')]
  const { code, stdout } = await stackroom(['scan', ...paths, '--json'])
  t.equal(code, 0)
  const summaries = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  t.match(summaries, [
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

t.test('wrong usage and missing folders end with exit code 2 and a message', async t => {
  for (const args of [['scan'], ['scan', '/', '--mode', 'slow'], ['scan', '/nowhere at all']]) {
    const { code, stdout, stderr } = await stackroom(args)
    t.match({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
    t.notMatch(stderr, /\n\s+at /, 'no stack')
  }
})

t.test(
  '--ndjson prints a line per book, also for failed ones, and again when it is hashed',
  async t => {
    const root = folderWithFiles(t, {
      ...comicFiles(3),
      'Row/broken.cbz': Buffer.from('no archive'),
    })
    const { code, stdout } = await stackroom(['scan', root, '--ndjson'])
    t.equal(code, 1)
    const lines = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    const withOutcome = (outcome: string) => lines.filter(line => line.outcome === outcome)
    t.same(
      withOutcome('new')
        .map(line => line.path)
        .sort(),
      ['Row/1.cbz', 'Row/2.cbz', 'Row/3.cbz'],
    )
    t.match(withOutcome('failed'), [{ path: 'Row/broken.cbz', error: { code: 'not_an_archive' } }])
    t.equal(withOutcome('hashed').length, 4)
    t.ok(withOutcome('hashed').every(line => /^[0-9a-f]{64}$/.test(line.sha256)))
    const again = await stackroom(['scan', root, '--ndjson'])
    const outcomes = again.stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).outcome)
    t.same(outcomes, Array(4).fill('unchanged'))
  },
)

t.test('a path inside a library scans only that part', async t => {
  const root = folderWithFiles(t, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
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
