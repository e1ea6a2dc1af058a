// Exclusion rules, and names of split archives.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { compileExclusions, isLaterVolume } from '../../../lib/media/strategy/exclusions.ts'
import { corpusPath, skipWithoutCorpus } from '../../kit/files/corpus.ts'
import { cpuMs } from '../../kit/suite/cpu-time.ts'

const check = (lines: string, path: string) => {
  const isDirectory = path.endsWith('/')
  const relative = isDirectory ? path.slice(0, -1) : path
  return compileExclusions(lines)(relative, relative.split('/').at(-1)!, isDirectory)
}

t.test('system and temporary files are excluded by default', async t => {
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
    '@Recycle/',
    '@Recently-Snapshot/',
    '#snapshot/',
    '@tmp/',
    '@sharebin/',
    '~snapshot/',
    '.@__thumb/',
    '@GMT-2026.11.28-03.00.00/',
    'FOUND.000/',
    'Network Trash Folder/',
    '~$Vol 03.epub',
    '.caltrash/',
    '.calnotes/',
    'a.tmp',
    'a.PART',
  )
  names.push('a.cbz.crdownload')
  for (const name of names) t.equal(check('', `Series/${name}`), true, name)
})

t.test('similar titles are not excluded', async t => {
  for (const name of [
    '...And Justice.cbz',
    'Thumbs.cbz',
    'tmp/',
    'Partners.part/',
    '#1.cbz',
    '#DRCL/',
    'Snapshot/',
    'Recycle/',
    'Found/',
    'found.001.cbz',
    '@home.cbz',
    'S.cbz',
  ]) {
    t.equal(check('', name), false, name)
  }
})

t.test('a name matches at any depth, a path from the root', async t => {
  t.equal(check('_to_filter', 'a/b/_TO_FILTER/'), true)
  t.equal(check('sub/*', 'sub/x/'), true)
  t.equal(check('sub/*', 'a/sub/x/'), false)
  t.equal(check('**/sub/*', 'a/sub/x/'), true)
  t.equal(check('**/sub/*', 'sub/x/'), true)
  t.equal(check('/top', 'top/'), true)
  t.equal(check('/top', 'a/top/'), false)
  t.equal(check('a/**', 'a/b/c.cbz'), true)
})

t.test('globs match names ignoring case', async t => {
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

t.test('negated rules include what earlier rules and defaults exclude', async t => {
  t.equal(check('!.hack*', '.hack v01.cbz'), false)
  t.equal(check('*.pdf\n!keep.pdf', 'keep.pdf'), false)
  t.equal(check('!keep.pdf\n*.pdf', 'keep.pdf'), true)
  t.equal(check('extras/', 'extras/'), true)
  t.equal(check('extras/', 'extras'), false)
})

t.test('invalid globs are ignored', async t => {
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
  const started = cpuMs()
  check(`${'*a'.repeat(400)}b`, 'a'.repeat(10_000))
  t.ok(cpuMs() - started < 1_000)
})

t.test('a million checks take less than half a second', async t => {
  const excluded = compileExclusions('')
  const names = Array.from(
    { length: 1_000 },
    (_, i) => `Series ${i} v0${i % 9} (2019) (Digital).cbz`,
  )
  const started = cpuMs()
  for (let round = 0; round < 1_000; round++)
    for (const name of names) excluded(`a/${name}`, name, false)
  t.ok(cpuMs() - started < 500)
})

t.test('later volumes of split archives are detected by name', async t => {
  const books = [
    'Batman.002.cbz',
    'Story.part2.cbz',
    'a.part1.cbr',
    'v.r01.epub',
    'x.z01.pdf',
    'a.cbr',
    'a.part01.rar',
    'Harbor Lights 001.cb7',
  ]
  for (const name of books) t.notOk(isLaterVolume(name), name)
  const volumes = [
    'a.part2.rar',
    'a.part010.cbr',
    'a.r00',
    'a.r01.cbr',
    'a.z01',
    'a.z02.cbz',
    'a.7z.002',
    'a.rar.003.cbr',
    'a.split.001',
  ]
  for (const name of volumes) t.ok(isLaterVolume(name), name)
})

t.test(
  'later volumes of the shared corpus are detected',
  { skip: skipWithoutCorpus(600) },
  async t => {
    for (const line of readFileSync(corpusPath('expected.jsonl')!, 'utf8').trimEnd().split('\n')) {
      const row = JSON.parse(line) as { path: string; expected: { outcome: string; note?: string } }
      const name = row.path.split('/').at(-1)!
      // The first volume is scanned, to report why it cannot be read.
      const isLater = row.expected.note === 'later volume of a set' && !/\.part0*1\./.test(name)
      if (isLater) t.ok(isLaterVolume(name), name)
      if (row.expected.outcome === 'ok') t.notOk(isLaterVolume(name), name)
    }
  },
)
