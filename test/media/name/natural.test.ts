// Natural sort order: comparator and sort key.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { compareFileNames, naturalCompare, sortKey } from '../../../lib/media/name/natural.ts'
import { corpusPath, skipWithoutCorpus } from '../../kit/files/corpus.ts'
import { createRandom } from '../../kit/random.ts'

const table = () =>
  readFileSync(corpusPath('filename-tables/codex-natural-sort.tsv')!, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map(line => line.split('\t') as [string, string, string, string, string])

function texts(count: number): string[] {
  const { below, pick } = createRandom(7)
  const alphabet = [
    ...'aAbBzZ  //.-_#[(~019',
    ...['00', '10', '007', '123456789', '99999999999999999999', 'é', 'É', 'e\u0301', 'ß', 'ς', 'Σ'],
    ...[
      '第',
      '１２',
      '٣',
      '½',
      '／',
      '\u0001',
      '\u0000',
      '\ud800',
      '😀',
      '\uff5e',
      '\ue000',
      'İ',
      '가',
      '각',
    ],
  ]
  return Array.from({ length: count }, () =>
    Array.from({ length: below(7) }, () => pick(alphabet)).join(''),
  )
}

const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

t.test('names are sorted by their numbers', async t => {
  const orders = [
    ['file-1', 'file-2', 'file-10'],
    ['Tide (2016) Vol. 1.cbz', 'Tide (2016) Vol. 2.cbz', 'Tide (2016) Vol. 10.cbz'],
    ['Tide Vol. 1.5.cbz', 'Tide Vol. 1.cbz', 'Tide Vol. 2.cbz', 'Tide Vol. 10.cbz'],
    ['a', 'a', 'b', 'c'],
  ]
  for (const order of orders) t.same(order.toReversed().sort(naturalCompare), order)
  const fileNames = ['Tide Vol. 1.cbz', 'Tide Vol. 1.5.cbz', 'Tide Vol. 2.cbz', 'Tide Vol. 10.cbz']
  t.same(fileNames.toReversed().sort(compareFileNames), fileNames)
})

t.test('shared rows are in order', { skip: skipWithoutCorpus(13) }, async t => {
  for (const [, test, fn, input, args] of table()) {
    if (fn !== 'sorted order') continue
    const order = JSON.parse(input) as string[]
    const compare = test.startsWith('test_filename') ? compareFileNames : naturalCompare
    t.same(order.toReversed().sort(compare), order, `${test} ${args}`)
  }
  t.equal(naturalCompare('', 'a'), -1)
  t.equal(naturalCompare('abc 123', 'abc 123'), 0)
})

t.test('numbers of any length are compared as integers', async t => {
  const order = ['p 1', 'p 2', 'p 10', 'p 99999999', 'p 100000000', 'p 99999999999999999999999']
  t.same(order.toReversed().sort(naturalCompare), order)
  t.same(
    order.toReversed().sort((a, b) => bytewise(sortKey(a), sortKey(b))),
    order,
  )
})

t.test('the key ignores leading zeros, case, accents and digit scripts', async t => {
  t.equal(sortKey('Épisode 007'), sortKey('episode 7'))
  t.equal(sortKey('第１２話'), sortKey('第12話'))
  t.equal(sortKey('ตอน ๑๒'), sortKey('ตอน 12'))
  t.not(naturalCompare('Épisode 007', 'episode 7'), 0, 'the comparator is total')
})

t.test('files of a folder precede folders with the same prefix', async t => {
  const order = [
    'Akira/2.cbz',
    'Akira/10.cbz',
    'Akira (1988)/1.cbz',
    'Akira 2/1.cbz',
    'akira-x/1.cbz',
  ]
  t.same(order.toReversed().sort(naturalCompare), order)
})

t.test('key and comparator have the same order', async t => {
  const list = texts(1500)
  let wrong = 0
  for (let i = 0; i < 40_000; i++) {
    const a = list[i % list.length]!
    const b = list[(i * 7 + Math.floor(i / list.length)) % list.length]!
    const byKey = bytewise(sortKey(a), sortKey(b))
    const byName = naturalCompare(a, b)
    if (byKey === 0 ? sortKey(a) !== sortKey(b) : byKey !== byName) wrong++
    if (byName !== -naturalCompare(b, a)) wrong++
  }
  t.equal(wrong, 0)
})

t.test('the order is transitive', async t => {
  const list = texts(600).sort(naturalCompare)
  const broken = list.flatMap((a, i) => list.slice(i).filter(b => naturalCompare(a, b) > 0))
  t.same(broken, [])
})

t.test('a key is well-formed text without NUL', async t => {
  t.ok(texts(2000).every(text => sortKey(text).isWellFormed() && !sortKey(text).includes('\0')))
})

t.test('a megabyte of digits is compared', async t => {
  const long = '9'.repeat(1_000_000)
  t.equal(naturalCompare(`${long}1`, `${long}2`), -1)
  t.ok(sortKey(long).startsWith('971000000999'))
})
