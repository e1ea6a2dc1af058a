import t from 'tap'
import { atomEntry } from '../../../lib/protocols/opds/atom/entry.ts'
import { atomFeed } from '../../../lib/protocols/opds/atom/feed.ts'
import { acquisitionFeed } from '../../../lib/protocols/opds/feed.ts'
import { palaceEntry, thoriumEntry } from '../../kit/opds/parsers.ts'
import { relaxErrors } from '../../kit/opds/relax-ng.ts'
import { at, book, context, find, linesOf, root } from './atom-values.ts'

t.test('an entry contains all metadata of a book', async t => {
  const it = book({
    title: 'Two & one',
    summary: 'First <b>line</b> &amp; &lt;i&gt;\r\nsecond & last',
    authors: [
      { name: 'Pen C.', role: 'penciller', sortName: null },
      { name: 'Wri T.', role: 'writer', sortName: null },
      { name: 'Wri T.', role: 'inker', sortName: null },
      { name: 'Second W.', role: 'writer', sortName: null },
      { name: '  ', role: 'writer', sortName: null },
    ],
  })
  const feed = acquisitionFeed({ path: '/on-deck', title: 'Next', books: [it] })
  for (const xml of [atomEntry(it, context), atomFeed(feed, context)]) {
    const at = xml.includes('<feed') ? 'a:entry/' : ''
    t.same(find(xml, `${at}a:title`), ['Series 3 - Two & one'])
    t.same(find(xml, `${at}a:id`), [`urn:uuid:${it.id}`])
    t.same(find(xml, `${at}a:updated`), ['2026-05-02T10:20:30Z'])
    t.same(find(xml, `${at}a:published`), ['2020-01-31T00:00:00Z'])
    t.same(find(xml, `${at}a:author/a:name`), ['Wri T.', 'Second W.'])
    t.same(find(xml, `${at}a:contributor/a:name`), ['Pen C.'])
    t.same(find(xml, `${at}dc:*`), [
      '2020-01-31',
      'en',
      'House',
      'urn:isbn:9780306406157',
      '35 pages',
    ])
    t.same(find(xml, `${at}a:category/@term`), ['Action', 'robots'])
    t.equal(new Set(find(xml, `${at}a:category/@scheme`)).size, 2)
    for (const isFoliate of [false, true])
      t.same(linesOf(find(xml, `${at}a:content`)[0]!, { isFoliate }), [
        ...['CBZ, 12.3 MiB, 35 pages', 'First <b>line</b> &amp; &lt;i&gt;', 'second & last'],
      ])
    const isFeed = at !== ''
    t.same(find(xml, `${at}a:link[@rel='related']/@title`), isFeed ? [] : ['Series: Series'])
    const links = (rel: string) => find(xml, `${at}a:link[@rel='${rel}']/@href`)
    t.same(links('http://opds-spec.org/acquisition'), [
      `${root}/books/${it.id}/file/The%20Title.cbz`,
    ])
    t.same(links('http://opds-spec.org/image'), [`${root}/books/${it.id}/cover.jpg`])
    t.same(links('http://opds-spec.org/image/thumbnail'), [`${root}/books/${it.id}/thumbnail.jpg`])
    // In a feed a link to a feed would make a folder of the book.
    t.same(links('related'), isFeed ? [] : [`${root}/series/${it.series.id}`])
    t.same(links('alternate'), [])
    t.same(links('self'), [`${root}/books/${it.id}`])
    t.same(find(xml, `${at}a:source`), [])
    const whole = `a:link[@type='application/atom+xml;type=entry;profile=opds-catalog']`
    t.same(find(xml, `${at}${whole}/@href`), [`${root}/books/${it.id}`])
  }
  const published = thoriumEntry(atomEntry(it, context))
  t.same(linesOf(published.Metadata.Description!).slice(1), [
    ...['First <b>line</b> &amp; &lt;i&gt;', 'second & last'],
  ])
  t.equal(published.Metadata.Identifier, 'urn:isbn:9780306406157')
  t.same(
    published.Metadata.Author!.map(({ Name }) => Name),
    ['Wri T.', 'Second W.'],
  )
  t.same(
    published.Metadata.Subject!.map(({ Name }) => Name),
    ['Action', 'robots'],
  )
  t.same(published.Metadata.PublicationDate, new Date('2020-01-31'))
  t.equal(published.Images!.length, 2)
  const palace = await palaceEntry(atomEntry(it, context))
  t.match(palace, { publisher: 'House', language: 'en', identifiers: ['urn:isbn:9780306406157'] })
})

t.test('unknown metadata is left out', async t => {
  const noMetadata = { number: null, summary: null, authors: [], publisher: null, language: null }
  const minimal = book({
    ...noMetadata,
    ...{ releaseDate: null, isbn: '1234567890123', genres: [], tags: [], format: null },
    ...{ fileSize: 1, pageCount: 0, streamMediaType: null, fileName: 'what' },
  })
  const xml = atomEntry(minimal, context)
  t.same(relaxErrors(xml), [])
  t.same(find(xml, 'a:contributor | a:category | a:published | dc:* | a:source'), [])
  t.same(find(xml, 'a:content'), ['1 byte'])
  t.same(find(xml, "a:link[@rel='http://opds-spec.org/acquisition']/@type"), [
    'application/octet-stream',
  ])
  t.same(find(xml, 'a:link/@pse:count'), [])
  t.same(find(xml, 'a:author/a:name'), ['Attic & <Sons>'], 'Atom requires an author')
  const feed = atomFeed(acquisitionFeed({ path: '/x', title: 'X', books: [minimal] }), context)
  t.same(find(feed, 'a:entry/a:author'), [], 'which a feed has')
  const dates = ['2021', '2021-07'].map(releaseDate =>
    find(atomEntry(book({ releaseDate }), context), 'a:published | dc:issued'),
  )
  t.same(dates, [
    ['2021-01-01T00:00:00Z', '2021'],
    ['2021-07-01T00:00:00Z', '2021-07'],
  ])
})

t.test(
  'a title contains series and number once: beside other series, and in its own feed',
  async t => {
    const cases: [
      series: string,
      title: string,
      number: string | null,
      mixed: string,
      own?: string,
    ][] = [
      ['Days', 'Night', '3', 'Days 3 - Night', '3 - Night'],
      ['Days', 'Night', null, 'Days - Night', 'Night'],
      ['Days', 'Days', '007', 'Days 007', '007 - Days'],
      ['Days', '', '3', 'Days 3', '3'],
      // The title contains the number.
      ['One Piece', 'One Piece v10', '10', 'One Piece v10'],
      ['Berserk', 'Berserk - c10.5', '10.5', 'Berserk - c10.5'],
      ['よつばと！', 'よつばと！ 第01巻', '1', 'よつばと！ 第01巻'],
      ['よつばと', 'よつばと第01巻', '1', 'よつばと第01巻'],
      ['魔法', '魔法 第３話', '3', '魔法 第３話'],
      ['Foo', 'Foo 3화', '3', 'Foo 3화'],
      ['เรื่อง', 'เรื่อง เล่ม ๓', '3', 'เรื่อง เล่ม ๓'],
      ['Saga', 'Saga Annual 1', 'Annual 1', 'Saga Annual 1'],
      ['Saga', 'Saga Annual #001', 'Annual 1', 'Saga Annual #001'],
      ['Saga', 'Saga ½', '½', 'Saga ½'],
      ['Saga', 'Saga 1½', '1½', 'Saga 1½'],
      ['Titan', 'Titan Vol.01', '1', 'Titan Vol.01'],
      ['Asterix', 'Asterix T01 - Le Gaulois', '1', 'Asterix T01 - Le Gaulois'],
      ['X-Men', 'X-Men -1', '-1', 'X-Men -1'],
      ['Foo', 'Foo 1-6', '1-6', 'Foo 1-6'],
      ['Foo', 'Foo 007', '007', 'Foo 007'],
      ['Foo', 'FOO ＃００７', '7', 'FOO ＃００７'],
      ['Lucky Luke', '02 - Rodeo', '2', 'Lucky Luke - 02 - Rodeo', '02 - Rodeo'],
      // The title contains the series.
      ['Batman (2016)', 'Batman 002 (2016) (Digital)', '2', 'Batman 002 (2016) (Digital)'],
      ['Batman (2016)', 'Batman (2016) 002', '2', 'Batman (2016) 002'],
      ['Frankenstein (12)', 'Frankenstein', null, 'Frankenstein'],
      // Other numbers and words do not count.
      ['It', 'Italian Job', null, 'It - Italian Job', 'Italian Job'],
      ['It', 'It’s late', '1', 'It 1 - It’s late', '1 - It’s late'],
      ['(2016)', 'Night', null, '(2016) - Night', 'Night'],
      ['Batman', 'Batman 2', '3', 'Batman 2 #3', '3 - Batman 2'],
      ['Area 51', 'Area 51', '5', 'Area 51 #5', '5 - Area 51'],
      ['Area 51', 'Area 51', '51', 'Area 51 #51', '51 - Area 51'],
      ['Area 5', 'Area 51', null, 'Area 5 - Area 51', 'Area 51'],
      ['300', '300', '3', '300 #3', '3 - 300'],
      ['Foo', 'Vol. 10', '1', 'Foo 1 - Vol. 10', '1 - Vol. 10'],
      ['Foo', 'Vol. 1.5', '5', 'Foo 5 - Vol. 1.5', '5 - Vol. 1.5'],
      ['Foo', 'Vol. 1.5', '1', 'Foo 1 - Vol. 1.5', '1 - Vol. 1.5'],
      ['Foo', 'Biannual 1', 'Annual 1', 'Foo Annual 1 - Biannual 1', 'Annual 1 - Biannual 1'],
      ['X-Men', 'X-Men 1', '-1', 'X-Men 1 -1', '-1 - X-Men 1'],
    ]
    for (const [series, title, number, mixed, own = mixed] of cases) {
      const it = book({ title, number, series: { id: book().id, title: series } })
      const titleIn = (isMixed: boolean) =>
        find(
          atomFeed(acquisitionFeed({ path: '/x', title: 'X', books: [it], isMixed }), context),
          'a:entry/a:title',
        )
      t.same([...titleIn(true), ...titleIn(false)], [mixed, own], `${title} ${number} of ${series}`)
    }
  },
)

t.test('the description of an unreadable file starts with the reason', async t => {
  const broken = {
    format: null,
    unreadableReason: 'The archive is cut <off>',
    fileSize: 128,
    pageCount: 0,
  }
  const linesFor = (more: Parameters<typeof book>[0]) =>
    linesOf(find(atomEntry(book({ ...broken, ...more }), context), 'a:content')[0]!)
  const why = ['128 bytes', 'This file cannot be read: The archive is cut <off>']
  t.same(linesFor({ summary: 'A tale.' }), [...why, 'A tale.'])
  t.same(linesFor({ summary: null }), why)
})

t.test('KOReader can read the title of every link and takes none for a PDF', async t => {
  const title = 'pdf'
  const titles = (fileName: string) =>
    find(atomEntry(book({ fileName, series: { id: book().id, title } }), context), 'a:link/@title')
  t.same(titles('科幻 1.cbz'), ['File: 科幻 1.cbz', 'Series: pdf'])
  t.same(titles('1 科幻.cbz'), ['1 科幻.cbz', 'Series: pdf'])
})

t.test('authors are writers, else artists, else people without a role', async t => {
  const authorsOf = (...people: [string, string | null][]) => {
    const authors = people.map(([name, role]) => ({ name, role, sortName: null }))
    const books = [book({ authors })]
    return find(
      atomFeed(acquisitionFeed({ path: '/x', title: 'X', books }), context),
      'a:entry/a:author/a:name',
    )
  }
  t.same(authorsOf(['I', 'inker'], ['P', 'penciller']), ['P'])
  t.same(authorsOf(['E', 'editor'], ['A', null]), ['A'])
  t.same(authorsOf(['E', 'editor']), [])
})

t.test('the stream counts pages from 0, and lastRead from 1', async t => {
  const stream = "a:link[@rel='http://vaemendis.net/opds-pse/stream']"
  const streamOf = (overrides: Parameters<typeof book>[0], ctx = context) => {
    const xml = atomEntry(book(overrides), ctx)
    const href = find(xml, `${stream}/@href`)[0]?.replace(/^.*\/books\/[^/]+/, '')
    const [count] = find(xml, `${stream}/@pse:count`)
    const [lastRead] = find(xml, `${stream}/@pse:lastRead`)
    const [date] = find(xml, `${stream}/@pse:lastReadDate`)
    const [type] = find(xml, `${stream}/@type`)
    t.same(relaxErrors(xml), [])
    return { href, type, count, lastRead, date }
  }
  const progress = { page: 10, percentage: null, isCompleted: false, updatedAt: at(7) }
  const fresh = {
    href: '/pages/{pageNumber}?width={maxWidth}',
    type: 'image/png',
    count: '35',
    lastRead: undefined,
    date: undefined,
  }
  const png = { streamMediaType: 'image/png' } as const
  t.same(streamOf(png), fresh)
  const date = '2026-05-07T10:20:30Z'
  t.same(streamOf({ ...png, progress }), { ...fresh, lastRead: '10', date })
  t.same(streamOf({ ...png, progress: { ...progress, page: 0 } }), fresh, 'progress without a page')
  t.same(streamOf({ ...png, progress: { ...progress, isCompleted: true } }).lastRead, '35')
  t.same(
    streamOf({ ...png, progress: { ...progress, page: 99 } }).lastRead,
    '35',
    'the book had more pages before',
  )
  t.equal(streamOf({ streamMediaType: null }).href, undefined)
  const allows = { pageStreaming: false, progressSync: false }
  t.equal(streamOf(png, { ...context, allows }).href, undefined, 'no link without permission')
})
