// Operators of conditions: the SQL of each holds for the same values as its predicate.
import t from 'tap'
import {
  type Column,
  columnTest,
  comparisons,
  matchingWords,
  textOperators,
} from '../../lib/list/sql/operators.ts'
import { searchKey } from '../../lib/media/name/text.ts'
import { createDatabase } from '../kit/db.ts'

const { sql } = await createDatabase(t)

const texts = [
  '',
  'One Piece',
  'one',
  'Piece',
  '100%',
  'a_b',
  'a\\b',
  'Émile',
  'ΟΔΟΣ',
  '巨人',
  'axb',
  "Don't",
]

t.test('texts', async t => {
  for (const operator of Object.keys(textOperators) as (keyof typeof textOperators)[])
    for (const value of texts) {
      const test = { kind: 'text', operator, value } as const
      const column: Column = { folded: sql`x.text` }
      const folded = texts.map(searchKey)
      const rows = await sql<{ text: string }[]>`
        select x.text from unnest(${folded}::text[]) as x(text)
        where ${columnTest(sql, column, test)}`
      t.same(
        rows.map(row => row.text),
        folded.filter(text => textOperators[operator].holds(text, searchKey(value))),
        `${operator} ${value}`,
      )
    }
})

t.test('numbers', async t => {
  const numbers = [-3, 0, 1, 2, 2.5, 1e15]
  for (const operator of Object.keys(comparisons) as (keyof typeof comparisons)[])
    for (const bound of numbers) {
      const { holds } = comparisons[operator]
      const rows = await sql<{ n: number }[]>`
        select x.n from unnest(${numbers}::float8[]) as x(n)
        where ${columnTest(sql, { number: sql`x.n` }, { kind: 'compare', operator, value: bound })}`
      const expected = numbers.filter(n => holds(n, bound))
      t.same(
        rows.map(row => row.n),
        expected,
        `${operator} ${bound}`,
      )
      const whole = numbers.filter(Number.isInteger)
      const integers = await sql<{ n: number }[]>`
        select x.n::float8 as n from unnest(${whole}::bigint[]) as x(n)
        where ${columnTest(sql, { integer: sql`x.n` }, { kind: 'compare', operator, value: bound })}`
      t.same(
        integers.map(row => row.n),
        whole.filter(n => holds(n, bound)),
        `integers ${operator} ${bound}`,
      )
    }
})

t.test('times', async t => {
  const ms = [-3, 0, 1, 2]
  for (const operator of Object.keys(comparisons) as (keyof typeof comparisons)[])
    for (const bound of ms) {
      const test = {
        kind: 'compare',
        operator,
        value: new Date(1_700_000_000_000 + bound),
      } as const
      const rows = await sql<{ n: number }[]>`
        select x.n::float8 as n from unnest(${ms}::bigint[]) as x(n)
        where ${columnTest(sql, { date: sql`to_timestamp(1700000000 + x.n / 1000.0)` }, test)}`
      t.same(
        rows.map(row => row.n),
        ms.filter(n => comparisons[operator].holds(n, bound)),
        `${operator} ${bound}`,
      )
    }
})

t.test('null is in no range and matches only a test for it', async t => {
  const held = async (column: Column, test: Parameters<typeof columnTest>[2]) => {
    const [row] = await sql<{ holds: boolean | null }[]>`
      select ${columnTest(sql, column, test)} as holds`
    return row!.holds === true
  }
  const none = { integer: sql`null::bigint` }
  t.equal(await held(none, { kind: 'between', from: null, to: null }), false)
  t.equal(await held(none, { kind: 'compare', operator: '<', value: 5 }), false)
  t.equal(await held(none, { kind: 'null' }), true)
  t.equal(await held({ integer: sql`5::bigint` }, { kind: 'between', from: 5, to: null }), true)
})

t.test('a test of words selects those whose text matches', t => {
  const words = ['cbz', 'cbr', 'epub']
  t.same(matchingWords(words, { kind: 'text', operator: 'contains', value: 'B' }), words)
  t.same(matchingWords(words, { kind: 'text', operator: 'beginsWith', value: 'cb' }), [
    'cbz',
    'cbr',
  ])
  t.end()
})
