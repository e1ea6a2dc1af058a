import t from 'tap'
import {
  bookSearchText,
  buildSearchText,
  normalizeSearchText,
  parseSearchQuery,
} from '../../../lib/media/name/search-text.ts'

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

t.test('a text has a line each, the title first', async t => {
  t.equal(buildSearchText('One', ['Two', null, 'ONE', 'two', 'Three!']), ' one\n two\n three\n')
  const book = {
    title: 'Vol 1',
    series: 'Akira',
    authors: [{ name: 'K. Ōtomo' }],
    number: '1',
    tags: ['Sci-Fi'],
  }
  t.equal(bookSearchText(book), ' vol 1\n akira\n 1\n k otomo\n sci fi\n')
  t.equal(bookSearchText({ ...book, title: 'Akira' }), ' akira\n akira\n 1\n k otomo\n sci fi\n')
})

t.test(
  'long words stand anywhere, short ones begin a word, patterns hold no wildcard of the user',
  async t => {
    t.same(parseSearchQuery('Ak vol_1% 巨')?.patterns, [
      `%${normalizeSearchText('巨')}%`,
      '%vol%',
      '% ak%',
      '% 1%',
    ])
    t.equal(parseSearchQuery(' % '), null)
    t.equal(parseSearchQuery(''), null)
    t.equal(parseSearchQuery('a '.repeat(1000) + 'b'.repeat(5000))?.patterns.length, 1)
  },
)
