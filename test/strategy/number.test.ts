// Number strategies: the place of a book in its series.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { Invalid } from '../../lib/errors.ts'
import { stemOf } from '../../lib/name/stem.ts'
import { numberInName, resolveNumber, validateNumberStrategy } from '../../lib/strategy/number.ts'
import { casesOf } from './cases.ts'

const corpus = new URL('../../../shared/corpus/', import.meta.url)

t.test('rows of filename, metadata and smart', async t => {
  for (const { filename, number } of casesOf('number:filename')) {
    // A year in brackets is no number, whatever the peer reads.
    const expected = filename === 'Batman (2011) (42).cbz' ? '42' : number
    const got = resolveNumber('filename', stemOf(filename), { number: '99' })
    t.equal(got.sort, expected === '' ? null : Number(expected), filename)
  }
  for (const strategy of ['metadata', 'smart'] as const) {
    for (const { filename, args, number } of casesOf(`number:${strategy}`)) {
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
    ...casesOf('series:flat/number'),
    ...casesOf('series:custom/number'),
  ]) {
    t.equal(numberInName(stemOf(filename)), number, filename)
  }
})

t.test('rows of the reference table', async t => {
  for (const line of readFileSync(
    new URL('filename-tables/codex-number.tsv', corpus),
    'utf8',
  ).split('\n')) {
    const [module, , , input = '', , , expected] = line.split('\t')
    if (module !== 'number/filename') continue
    t.equal(resolveNumber('filename', stemOf(input), {}).sort, Number(expected), input)
  }
})

t.test('the number beside a volume counts before the volume', async t => {
  t.equal(numberInName('Superman v1 024 (1943)'), '24')
  t.equal(numberInName('X-Men v1 #067'), '67')
  t.equal(numberInName('Naruto v05'), '5')
  t.equal(numberInName('JoJo Part 5 v03 c016'), '3')
})

t.test('embedded numbers keep their words and sort among the others', async t => {
  t.same(resolveNumber('smart', 'x', { number: ' 1.MU ' }), { text: '1.MU', sort: 1.5 })
  t.same(resolveNumber('metadata', 'Batman #4', { number: null }), { text: null, sort: null })
  t.same(resolveNumber('file_order', 'Batman #4', { number: '4' }), { text: null, sort: null })
  t.same(resolveNumber('metadata', 'x', { number: 'Special' }), { text: 'Special', sort: null })
})

t.test('an unknown strategy is refused', async t => {
  t.throws(() => validateNumberStrategy('position'), Invalid)
  t.equal(validateNumberStrategy('smart'), 'smart')
})
