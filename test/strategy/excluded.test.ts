// Exclusions and the names of split archives.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { compileExclusions } from '../../lib/strategy/excluded.ts'
import { laterVolume } from '../../lib/strategy/volumes.ts'

const corpus = new URL('../../../shared/corpus/', import.meta.url)
const check = (lines: string, path: string) => {
  const isDirectory = path.endsWith('/')
  const relative = isDirectory ? path.slice(0, -1) : path
  return compileExclusions(lines)(relative, relative.split('/').at(-1)!, isDirectory)
}

t.test('what systems leave behind is passed over', async t => {
  const names = [
    '.DS_Store',
    'Thumbs.db',
    '@eaDir/',
    '__MACOSX/',
    '._a.cbz',
    '.x/',
    '#recycle/',
    '$RECYCLE.BIN/',
  ]
  names.push(
    'System Volume Information/',
    'lost+found/',
    '.caltrash/',
    '.calnotes/',
    'a.tmp',
    'a.PART',
  )
  names.push('a.cbz.crdownload')
  for (const name of names) t.equal(check('', `Series/${name}`), true, name)
})

t.test('titles that only look so are kept', async t => {
  for (const name of [
    '...And Justice.cbz',
    'Thumbs.cbz',
    'tmp/',
    'Partners.part/',
    '#1.cbz',
    '@home.cbz',
    'S.cbz',
  ]) {
    t.equal(check('', name), false, name)
  }
})

t.test('a name is found at any depth, a path from the root', async t => {
  t.equal(check('_to_filter', 'a/b/_TO_FILTER/'), true)
  t.equal(check('sub/*', 'sub/x/'), true)
  t.equal(check('sub/*', 'a/sub/x/'), false)
  t.equal(check('**/sub/*', 'a/sub/x/'), true)
  t.equal(check('**/sub/*', 'sub/x/'), true)
  t.equal(check('/top', 'top/'), true)
  t.equal(check('/top', 'a/top/'), false)
  t.equal(check('a/**', 'a/b/c.cbz'), true)
})

t.test('globs choose names without regard to case', async t => {
  t.equal(check('*.sample.cbz', 'Saga.Sample.CBZ'), true)
  t.equal(check('draft*', 'Draft 2.cbz'), true)
  t.equal(check('issue?.cbz', 'issue1.cbz'), true)
  t.equal(check('issue?.cbz', 'issue12.cbz'), false)
  t.equal(check('*.{cbr,cb7}', 'a.cb7'), true)
  t.equal(check('[!a]*.cbz', 'b.cbz'), true)
  t.equal(check('[!a]*.cbz', 'a.cbz'), false)
  t.equal(check('a.b', 'axb'), false)
  t.equal(check('x(1)+$.*', 'x(1)+$.cbz'), true)
  t.equal(check('進撃*', '進撃の巨人.cbz'), true)
})

t.test('later lines take back what earlier lines and defaults exclude', async t => {
  t.equal(check('!.hack*', '.hack v01.cbz'), false)
  t.equal(check('*.pdf\n!keep.pdf', 'keep.pdf'), false)
  t.equal(check('!keep.pdf\n*.pdf', 'keep.pdf'), true)
  t.equal(check('extras/', 'extras/'), true)
  t.equal(check('extras/', 'extras'), false)
})

t.test('lines that are no glob do nobody harm', async t => {
  for (const line of [
    '[',
    '{',
    '}{',
    '{{{{{{{{{{',
    '\\',
    '!',
    '',
    '/',
    '['.repeat(500),
    '*'.repeat(900),
  ]) {
    t.doesNotThrow(() => check(line, 'a/b.cbz'), line)
  }
  const started = performance.now()
  check(`${'*a'.repeat(400)}b`, 'a'.repeat(10_000))
  t.ok(performance.now() - started < 1_000)
})

t.test('a million files are checked in half a second', async t => {
  const excluded = compileExclusions('')
  const names = Array.from(
    { length: 1_000 },
    (_, i) => `Series ${i} v0${i % 9} (2019) (Digital).cbz`,
  )
  const started = performance.now()
  for (let round = 0; round < 1_000; round++)
    for (const name of names) excluded(`a/${name}`, name, false)
  t.ok(performance.now() - started < 500)
})

t.test('later volumes of the corpus are known by name, books with dots are not', async t => {
  const lines = readFileSync(new URL('expected.jsonl', corpus), 'utf8').trimEnd().split('\n')
  const rows = lines.map(
    line => JSON.parse(line) as { path: string; expected: { outcome: string; note?: string } },
  )
  for (const { path, expected } of rows) {
    const name = path.split('/').at(-1)!
    // The first volume is kept: whoever has it should hear why it cannot be read.
    const isLater = expected.note === 'later volume of a set' && !/\.part0*1\./.test(name)
    if (isLater) t.ok(laterVolume(name), name)
    if (expected.outcome === 'ok') t.notOk(laterVolume(name), name)
  }
  for (const name of [
    'Batman.002.cbz',
    'Story.part2.cbz',
    'a.part1.cbr',
    'v.r01.epub',
    'x.z01.pdf',
    'a.cbr',
  ]) {
    t.notOk(laterVolume(name), name)
  }
  for (const name of ['a.part2.rar', 'a.part010.cbr', 'a.r00', 'a.z01', 'a.7z.002'])
    t.ok(laterVolume(name), name)
})
