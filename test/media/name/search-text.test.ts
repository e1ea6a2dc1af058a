import t from 'tap'
import {
  bookSearchText,
  normalizeSearchText,
  parseSearchQuery,
  seriesSearchText,
} from '../../../lib/media/name/search-text.ts'
import { createRandom } from '../../kit/random.ts'

t.test('case, accents, width, apostrophes and punctuation say nothing', async t => {
  t.equal(normalizeSearchText('  Don’t PANIC, Émile! №5 '), 'dont panic emile no5')
  t.equal(normalizeSearchText('Ｎａｒｕｔｏ'), 'naruto')
  t.equal(
    normalizeSearchText('\u304b\u3099'),
    normalizeSearchText('\u304c'),
    'composed kana are one',
  )
  t.equal(normalizeSearchText('…!?'), '')
})

t.test('ASCII texts have the same words beside other characters', async t => {
  const random = createRandom(7)
  for (let i = 0; i < 500; i++) {
    const text = Array.from({ length: 12 }, () => String.fromCharCode(random.below(128))).join('')
    const beside = normalizeSearchText(`${text} 巨`).replace(/ ?[A-E][F-Z]{4}$/, '')
    t.equal(normalizeSearchText(text), beside, JSON.stringify(text))
  }
})

t.test('characters beyond ASCII are five capitals that meet only themselves', async t => {
  const line = normalizeSearchText('進撃の巨人 😀𠮷')
  t.match(line, /^([A-E][F-Z]{4})+ ([A-E][F-Z]{4})+$/)
  const all = ['進', '撃', 'の', '巨', '人', '𠮷', 'ы', 'ה', '한']
  const codes = new Set(all.map(normalizeSearchText))
  t.equal(codes.size, all.length)
  for (const code of codes) t.equal(code.length, 5)
  t.ok(normalizeSearchText('進撃の巨人').includes(normalizeSearchText('の巨')))
  for (const title of ['烟花', 'كتاب رائع', 'שלום ספר'])
    for (const query of ['man', '181', '161', 'e'])
      t.notOk(normalizeSearchText(title).includes(query), `${query} in ${title}`)
})

t.test('a text has a line each, the title first, and then titles as one word', async t => {
  const series = { title: 'One', otherTitles: ['Two', 'ONE'], values: ['two', 'Three!'], books: [] }
  t.equal(seriesSearchText(series), ' one\n two\n three\n^one \ntwo \n')
  t.equal(
    seriesSearchText({ ...series, otherTitles: ['The Two Towers'], books: ['One', 'Jean-Luc'] }),
    ' one\n the two towers\n two\n three\n| jean luc\n^one \ntwotowers thetwotowers \n|jeanluc \n',
  )
  const book = {
    title: 'Vol 1',
    series: 'Akira',
    authors: [{ name: 'K. Ōtomo' }],
    number: '1',
    tags: ['Sci-Fi', 'Old School'],
  }
  const values = ' 1\n k otomo\n sci fi\n old school\n'
  t.equal(bookSearchText(book), ` vol 1\n akira\n${values}^vol1 \nakira \nscifi \n`)
  t.equal(
    bookSearchText({ ...book, title: 'Akira' }),
    ` akira\n akira\n${values}^akira \nakira \nscifi \n`,
  )
})

t.test('long words stand anywhere, short ones begin a word, no part is a wildcard', async t => {
  const parts = (query: string) => parseSearchQuery(query)?.words.map(word => word.parts)
  t.same(parts('Vol_1% 巨'), [
    [normalizeSearchText('巨')],
    ['vol'],
    [' 1', 'vol1', `1${normalizeSearchText('巨')}`],
  ])
  t.same(parts('ak 1'), [[' ak'], [' 1']])
  t.equal(parseSearchQuery(' % '), null)
  t.equal(parseSearchQuery(''), null)
  t.equal(parseSearchQuery('x '.repeat(1000) + 'b'.repeat(5000))?.words.length, 1)
})

t.test('articles count only in a query of nothing else', async t => {
  const parts = (query: string) => parseSearchQuery(query)?.words.flatMap(word => word.parts)
  t.same(parts('The Sandman'), ['sandman'])
  t.same(parts('sandman, the'), ['sandman'])
  t.same(parts('the'), ['the'])
  t.same(parts('a the'), ['the', ' a', 'athe'])
})
