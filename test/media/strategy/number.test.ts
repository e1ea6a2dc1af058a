// Number strategies.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { stemOf } from '../../../lib/media/format/formats.ts'
import {
  type NumberStrategy,
  numberInName,
  resolveNumber,
} from '../../../lib/media/strategy/number.ts'
import { corpusPath, goldenFile, skipWithoutCorpus } from '../../kit/files/corpus.ts'
import { goldenCases, sharedCases } from './cases.ts'

t.test('the number follows the strategy', async t => {
  for (const { strategy, path, facts, expected } of goldenCases('number')) {
    const number = resolveNumber(strategy as NumberStrategy, stemOf(path), facts)
    t.match(number, expected, `${strategy} ${path}`)
  }
})

t.test('file names have the expected number and sort value', async t => {
  const [head = '', ...rows] = goldenFile('filenames.tsv').toString().trimEnd().split('\n')
  const columns = head.split('\t')
  const [text, sort] = [columns.indexOf('bookNumber'), columns.indexOf('sort')]
  for (const row of rows) {
    const cells = row.split('\t')
    const number = numberInName(cells[0]!) ?? ''
    const sortValue = resolveNumber('filename', cells[0]!, {}).sort
    t.same([number, String(sortValue ?? '')], [cells[text], cells[sort]], cells[0]!)
  }
})

t.test('shared rows of filename, metadata and smart', async t => {
  for (const { filename, number } of sharedCases('number:filename')) {
    // A year in brackets is not a number, unlike in the shared table.
    const expected = filename === 'Batman (2011) (42).cbz' ? '42' : number
    const { sort } = resolveNumber('filename', stemOf(filename), { number: '99' })
    t.equal(sort, expected === '' ? null : Number(expected), filename)
  }
  for (const strategy of ['metadata', 'smart'] as const) {
    for (const { filename, args, number } of sharedCases(`number:${strategy}`)) {
      const embedded = /Number=([\d.]+)/.exec(args)?.[1]
      const expected = number === '' || args.includes('position') ? null : Number(number)
      t.equal(
        resolveNumber(strategy, stemOf(filename), { number: embedded }).sort,
        expected,
        `${filename} ${args}`,
      )
    }
  }
  for (const { filename, number } of [
    ...sharedCases('series:flat/number'),
    ...sharedCases('series:custom/number'),
  ]) {
    t.equal(numberInName(stemOf(filename)), number, filename)
  }
})

t.test('shared rows of book numbers', { skip: skipWithoutCorpus(18) }, async t => {
  const table = readFileSync(corpusPath('filename-tables/codex-number.tsv')!, 'utf8')
  for (const line of table.split('\n')) {
    const [module, , , input = '', , , expected] = line.split('\t')
    if (module !== 'number/filename') continue
    t.equal(resolveNumber('filename', stemOf(input), {}).sort, Number(expected), input)
  }
})

t.test('a number next to a volume takes precedence over the volume', async t => {
  t.equal(numberInName('Superman v1 024 (1943)'), '24')
  t.equal(numberInName('X-Men v1 #067'), '67')
  t.equal(numberInName('Naruto v05'), '5')
  t.equal(numberInName('125 (2022)'), '125', 'a title, but a number in a folder')
  t.equal(numberInName('JoJo Part 5 v03 c016'), '3')
})

t.test('embedded numbers retain their text and have a sort value', async t => {
  t.same(resolveNumber('smart', 'x', { number: ' 1.MU ' }), { text: '1.MU', sort: 1.5 })
  t.same(resolveNumber('metadata', 'Batman #4', { number: null }), { text: null, sort: null })
  t.same(resolveNumber('file_order', 'Batman #4', { number: '4' }), { text: null, sort: null })
  t.same(resolveNumber('metadata', 'x', { number: 'Special' }), { text: 'Special', sort: null })
})
