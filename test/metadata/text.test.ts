import t from 'tap'
import {
  decimal,
  integer,
  line,
  names,
  prose,
  said,
  split,
  webAddress,
} from '../../lib/metadata/text.ts'

t.test('a line is clean, bounded, or absent', t => {
  t.equal(line(' a\u0000\n\t b\u00a0c '), 'a b c')
  t.equal(line(' \u0001 '), undefined)
  t.equal(line('\ud800x'), '\ufffdx', 'half a character would not reach the database')
  t.equal(line('x'.repeat(10_000))?.length, 500)
  t.end()
})

t.test('prose keeps its lines', t => {
  t.equal(prose(' a\r\nb\u0007\n\n  c '), 'a\nb\n\n  c')
  t.equal(prose('x'.repeat(100_000))?.length, 65_536)
  t.equal(prose('\n'), undefined)
  t.end()
})

t.test('lists are split at commas, elsewhere only without them', t => {
  t.same(split('a, b,, c ;d'), ['a', 'b', 'c ;d'])
  t.same(split('a; b'), ['a', 'b'])
  t.same(split('あ、い'), ['あ', 'い'])
  t.same(split('Robert Downey, Jr., Stan Lee'), ['Robert Downey, Jr.', 'Stan Lee'])
  t.same(names(['Horror', ' horror ', '', undefined, 'Drama']), ['Horror', 'Drama'])
  t.equal(names([' ']), undefined)
  t.end()
})

t.test('numbers are read in any digits and nothing else is a number', t => {
  t.same([integer('12'), integer('-1'), integer('１２'), integer('3.0')], [12, -1, 12, 3])
  t.same(['', 'x', '1.5', '1e3', '0x10', '99999999999'].map(integer), Array(6).fill(Number.NaN))
  t.same([decimal('4,5'), decimal('.5'), decimal('3.')], [4.5, 0.5, 3])
  t.same(['', '1.2.3', 'Infinity'].map(decimal), Array(3).fill(Number.NaN))
  t.end()
})

t.test('only web addresses are addresses', t => {
  t.equal(webAddress(' https://a.example/x?y=1,2 '), 'https://a.example/x?y=1,2')
  for (const bad of ['javascript:alert(1)', 'a.example', 'http://', 'file:///etc/passwd', '']) {
    t.equal(webAddress(bad), undefined, bad)
  }
  t.same(said({ a: 1, b: undefined, c: null }), { a: 1, c: null })
  t.end()
})
