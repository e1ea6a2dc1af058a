// Markers and brackets of file names.
import t from 'tap'
import { findMarkers } from '../../../lib/media/name/markers.ts'
import { splitBrackets } from '../../../lib/media/name/tags.ts'
import { asciiDigits } from '../../../lib/media/name/text.ts'
import { tokenize } from '../../../lib/media/name/tokens.ts'

const markersOf = (text: string) => findMarkers(tokenize(text))

t.test('a marker ends with its number', async t => {
  t.equal(markersOf('Series c2c').chapter, undefined)
  t.equal(markersOf('Series v1080p').volume, undefined)
  t.equal(markersOf('Epic 2020').chapter, undefined, 'a word that ends in c is not a marker')
  t.equal(markersOf('Chapter51v2').chapter?.text, '51')
  t.match(markersOf('v2c6'), { volume: { value: 2 }, chapter: { value: 6 } })
})

t.test('the first marker of each kind is used', async t => {
  t.match(markersOf('Series v01 v05 c042 c100'), { volume: { value: 1 }, chapter: { value: 42 } })
})

t.test('a range with spaces needs the keyword twice', async t => {
  t.match(markersOf('c000 - c006').chapter, { value: 0, end: 6 })
  t.match(markersOf('v01 - 2024').volume, { value: 1, end: null })
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
