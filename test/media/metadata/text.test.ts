import t from 'tap'
import {
  httpUrl,
  multiLine,
  omitUndefined,
  parseDecimal,
  parseInteger,
  singleLine,
  splitList,
  uniqueNames,
} from '../../../lib/media/metadata/text.ts'

t.test('singleLine normalizes and truncates', t => {
  t.equal(singleLine(' a\u0000\n\t b\u00a0c '), 'a b c')
  t.equal(singleLine(' \u0001 '), undefined)
  t.equal(singleLine('\ud800x'), '\ufffdx', 'lone surrogates cannot be stored')
  t.equal(singleLine('x'.repeat(10_000))?.length, 500)
  t.end()
})

t.test('multiLine retains lines', t => {
  t.equal(multiLine(' a\r\nb\u0007\n\n  c '), 'a\nb\n\n  c')
  t.equal(multiLine('x'.repeat(100_000))?.length, 65_536)
  t.equal(multiLine('\n'), undefined)
  t.end()
})

t.test('lists are split at commas, else at semicolons', t => {
  t.same(splitList('a, b,, c ;d'), ['a', 'b', 'c ;d'])
  t.same(splitList('a; b'), ['a', 'b'])
  t.same(splitList('あ、い'), ['あ', 'い'])
  t.same(splitList('Robert Downey, Jr., Stan Lee'), ['Robert Downey, Jr.', 'Stan Lee'])
  t.same(uniqueNames(['Horror', ' horror ', '', undefined, 'Drama']), ['Horror', 'Drama'])
  t.equal(uniqueNames([' ']), undefined)
  t.end()
})

t.test('numbers are read in digits of any script', t => {
  t.same(
    [parseInteger('12'), parseInteger('-1'), parseInteger('１２'), parseInteger('3.0')],
    [12, -1, 12, 3],
  )
  t.same(
    ['', 'x', '1.5', '1e3', '0x10', '99999999999'].map(parseInteger),
    Array(6).fill(Number.NaN),
  )
  t.same([parseDecimal('4,5'), parseDecimal('.5'), parseDecimal('3.')], [4.5, 0.5, 3])
  t.same(['', '1.2.3', 'Infinity'].map(parseDecimal), Array(3).fill(Number.NaN))
  t.end()
})

t.test('only http URLs are accepted', t => {
  t.equal(httpUrl(' https://a.example/x?y=1,2 '), 'https://a.example/x?y=1,2')
  for (const bad of ['javascript:alert(1)', 'a.example', 'http://', 'file:///etc/passwd', '']) {
    t.equal(httpUrl(bad), undefined, bad)
  }
  t.same(omitUndefined({ a: 1, b: undefined, c: null }), { a: 1, c: null })
  t.end()
})
