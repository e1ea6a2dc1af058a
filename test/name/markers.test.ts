// Markers and brackets of file names.
import t from 'tap'
import { splitBrackets } from '../../lib/name/brackets.ts'
import { findMarkers } from '../../lib/name/markers.ts'
import { asciiDigits } from '../../lib/name/text.ts'

t.test('a marker ends with its number', async t => {
  t.equal(findMarkers('Series c2c').chapter, null)
  t.equal(findMarkers('Series v1080p').volume, null)
  t.equal(findMarkers('Epic 2020').chapter, null, 'a word that ends in c is not a marker')
  t.equal(findMarkers('Chapter51v2').chapter?.text, '51')
  t.match(findMarkers('v2c6'), { volume: { value: 2 }, chapter: { value: 6 } })
})

t.test('the first marker of each kind is used', async t => {
  t.match(findMarkers('Series v01 v05 c042 c100'), { volume: { value: 1 }, chapter: { value: 42 } })
})

t.test('a range with spaces needs the keyword twice', async t => {
  t.match(findMarkers('c000 - c006').chapter, { value: 0, end: 6 })
  t.match(findMarkers('v01 - 2024').volume, { value: 1, end: null })
})

t.test('brackets of all kinds are split from the text, closed or not', async t => {
  t.same(splitBrackets('Foo (digital (Empire)'), {
    flat: 'Foo \n\n',
    groups: ['digital', 'Empire'],
  })
  t.same(splitBrackets('【A】漫画'), { flat: '\n漫画', groups: ['A'] })
  t.same(splitBrackets('Foo (bar'), { flat: 'Foo (bar', groups: [] })
  t.same(splitBrackets('Foo) [x] bar'), { flat: 'Foo) \n bar', groups: ['x'] })
})

t.test('digits of all scripts become ASCII', async t => {
  t.equal(asciiDigits('１２ ٣ ๔ ५'), '12 3 4 5')
})
