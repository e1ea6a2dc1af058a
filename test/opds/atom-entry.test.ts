import t from 'tap'
import { atomEntry } from '../../lib/opds/atom/entry.ts'
import { atomFeed } from '../../lib/opds/atom/feed.ts'
import { acquisition } from '../../lib/opds/feed.ts'
import { palaceEntry, thoriumEntry } from '../kit/opds-parsers.ts'
import { relaxErrors } from '../kit/relax.ts'
import { at, book, find, root, writing } from './atom-values.ts'

t.test('an entry tells all that is known of a book', async t => {
  const it = book({
    title: 'Two & one',
    summary: 'First <b>line</b>\r\nsecond & last',
    authors: [
      { name: 'Pen C.', role: 'penciller', sortName: null },
      { name: 'Wri T.', role: 'writer', sortName: null },
      { name: 'Wri T.', role: 'inker', sortName: null },
      { name: 'Second W.', role: 'writer', sortName: null },
      { name: '  ', role: 'writer', sortName: null },
    ],
  })
  const feed = acquisition({ path: '/on-deck', title: 'Next', books: [it] })
  for (const xml of [atomEntry(it, writing), atomFeed(feed, writing)]) {
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
    t.same(find(xml, `${at}a:content`), [
      'CBZ, 12.3 MiB, 35 pages<br/>First &lt;b&gt;line&lt;/b&gt;<br/>second &amp; last',
    ])
    const links = (rel: string) => find(xml, `${at}a:link[@rel='${rel}']/@href`)
    t.same(links('http://opds-spec.org/acquisition'), [
      `${root}/books/${it.id}/file/The%20Title.cbz`,
    ])
    t.same(links('http://opds-spec.org/image'), [`${root}/books/${it.id}/cover.jpg`])
    t.same(links('http://opds-spec.org/image/thumbnail'), [`${root}/books/${it.id}/thumbnail.jpg`])
    t.same(links('related'), [`${root}/series/${it.series.id}`])
    const whole = `a:link[@type='application/atom+xml;type=entry;profile=opds-catalog']`
    t.same(find(xml, `${at}${whole}/@href`), [`${root}/books/${it.id}`])
  }
  const published = thoriumEntry(atomEntry(it, writing))
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
  const palace = await palaceEntry(atomEntry(it, writing))
  t.match(palace, { publisher: 'House', language: 'en', identifiers: ['urn:isbn:9780306406157'] })
})

t.test('what is not known of a book is left out', async t => {
  const none = { number: null, summary: null, authors: [], publisher: null, language: null }
  const least = book({
    ...none,
    ...{ released: null, isbn: '1234567890123', genres: [], tags: [], format: null },
    ...{ fileSize: 1, pageCount: 0, streamedAs: null, fileName: 'what' },
  })
  const xml = atomEntry(least, writing)
  t.same(relaxErrors(xml), [])
  t.same(find(xml, 'a:author | a:contributor | a:category | a:published | dc:*'), [])
  t.same(find(xml, 'a:content'), ['1 byte'])
  t.same(find(xml, "a:link[@rel='http://opds-spec.org/acquisition']/@type"), [
    'application/octet-stream',
  ])
  t.same(find(xml, 'a:link/@pse:count'), [])
  t.same(find(xml, 'a:source/a:author/a:name'), ['Attic & <Sons>'], 'Atom wants someone')
  const dates = ['2021', '2021-07'].map(released =>
    find(atomEntry(book({ released }), writing), 'a:published | dc:issued'),
  )
  t.same(dates, [
    ['2021-01-01T00:00:00Z', '2021'],
    ['2021-07-01T00:00:00Z', '2021-07'],
  ])
})

t.test('comics without a writer are the artist’s, other books of whoever has no role', async t => {
  const authorsOf = (...people: [string, string | null][]) => {
    const authors = people.map(([name, role]) => ({ name, role, sortName: null }))
    return find(atomEntry(book({ authors }), writing), 'a:author/a:name')
  }
  t.same(authorsOf(['I', 'inker'], ['P', 'penciller']), ['P'])
  t.same(authorsOf(['E', 'editor'], ['A', null]), ['A'])
  t.same(authorsOf(['E', 'editor']), [])
})

t.test('the stream counts pages from 0 and tells the place from 1', async t => {
  const stream = "a:link[@rel='http://vaemendis.net/opds-pse/stream']"
  const streamOf = (said: Parameters<typeof book>[0], by = writing) => {
    const xml = atomEntry(book(said), by)
    const href = find(xml, `${stream}/@href`)[0]?.replace(/^.*\/books\/[^/]+/, '')
    const [count] = find(xml, `${stream}/@pse:count`)
    const [lastRead] = find(xml, `${stream}/@pse:lastRead`)
    const [date] = find(xml, `${stream}/@pse:lastReadDate`)
    const [type] = find(xml, `${stream}/@type`)
    t.same(relaxErrors(xml), [])
    return { href, type, count, lastRead, date }
  }
  const place = { page: 10, percentage: null, isCompleted: false, at: at(7) }
  const fresh = {
    href: '/pages/{pageNumber}?width={maxWidth}',
    type: 'image/png',
    count: '35',
    lastRead: undefined,
    date: undefined,
  }
  const png = { streamedAs: 'image/png' } as const
  t.same(streamOf(png), fresh)
  const date = '2026-05-07T10:20:30Z'
  t.same(streamOf({ ...png, place }), { ...fresh, lastRead: '10', date })
  t.same(streamOf({ ...png, place: { ...place, page: 0 } }), fresh, 'a place without a page')
  t.same(streamOf({ ...png, place: { ...place, isCompleted: true } }).lastRead, '35')
  t.same(streamOf({ ...png, place: { ...place, page: 99 } }).lastRead, '35', 'it was longer once')
  t.equal(streamOf({ streamedAs: null }).href, undefined)
  const may = { stream: false, sync: false }
  t.equal(streamOf(png, { ...writing, may }).href, undefined, 'what is not allowed is not offered')
})
