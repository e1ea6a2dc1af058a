// Book numbers.
import t from 'tap'
import { sortNumber, stripLeadingZeros } from '../../../lib/media/name/number.ts'

t.test('numbers have a sort value', async t => {
  const cases: [string, number | null][] = [
    ['1', 1],
    ['007', 7],
    ['1.5', 1.5],
    ['1,5', 1.5],
    ['-3,25', -3.25],
    ['1,2,3', 1],
    ['1,000', 1],
    ['½', 0.5],
    ['1½', 1.5],
    ['1/2', 0.5],
    ['１２', 12],
    ['٣', 3],
    ['-1', -1],
    ['1-6', 1],
    ['1.MU', 1.5],
    ['78.BEY', 78.5],
    ['4.extra', 4.99],
    ['404.special', 404.97],
    ['19a', 19.1],
    ['122.b', 122.2],
    ['0.0.1', 0.01],
    ['Annual 1', 1],
    ['Annual-1', 1],
    ['# -1', -1],
    ['B1', 1],
    ['3.', 3],
    ['004.0', 4],
    ['1/0', 1],
    ['', null],
    ['Special', null],
    ['∞', null],
  ]
  for (const [text, value] of cases) t.equal(sortNumber(text), value, text)
})

t.test('leading zeros are removed, decimals are not', async t => {
  t.same(['007', '034.5', '000', 'B01', '1.05', '100', '-001'].map(stripLeadingZeros), [
    '7',
    '34.5',
    '0',
    'B1',
    '1.05',
    '100',
    '-1',
  ])
})

t.test('the sort value is never NaN', async t => {
  const texts = [
    '1/',
    '/2',
    '--1',
    '½½',
    '1e999',
    '9'.repeat(5000),
    '1.'.repeat(5000),
    'a'.repeat(9999),
  ]
  for (const text of texts) t.not(Number.isNaN(sortNumber(text) ?? 0), true)
})
