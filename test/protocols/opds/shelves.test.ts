// Feed contents of both catalogs: books and series, their order and counts.
import { type Test, test } from 'tap'
import { refreshBooksMetadata } from '../../../lib/catalog/derived/books-metadata.ts'
import { refreshLowestAge } from '../../../lib/catalog/derived/lowest-age.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

type Item = { title: string; href: string; properties?: { numberOfItems?: number }; rel?: string }
type Json = {
  metadata: { title: string; numberOfItems: number; identifier?: string }
  links: { rel: string; href: string; templated?: boolean }[]
  navigation?: Item[]
  publications?: { metadata: { title: string; identifier: string }; links: Item[] }[]
  facets?: { metadata: { title: string }; links: Item[] }[]
  groups?: (Json & { metadata: { title: string; numberOfItems: number } })[]
}
type FeedClient = { get: (path: string) => Promise<{ status: number; body: any; bytes: Buffer }> }

const info = (series: string, number: number, more = '') =>
  `<?xml version="1.0"?><ComicInfo><Series>${series}</Series><Number>${number}</Number>${more}</ComicInfo>`
const issue = (series: string, number: number, more = '') =>
  comic({ pages: 2, info: info(series, number, more) })

async function createCatalog(t: Test) {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, {
    'Alpha/10.cbz': issue('Alpha', 10, '<Tags>robots, space</Tags><Publisher>Acme</Publisher>'),
    'Alpha/2.cbz': issue(
      'Alpha',
      2,
      '<Tags>Robots</Tags><Publisher>Acme</Publisher><Year>1999</Year>',
    ),
    'Alpha/1.cbz': issue(
      'Alpha',
      1,
      '<Tags>space</Tags><Genre>Action</Genre><Writer>Ana Author</Writer>',
    ),
    'Alpha/3.cbz': issue('Alpha', 3, '<Title>Zebra</Title><Year>2024</Year>'),
    'Beta/1.cbz': issue('Beta', 1, '<Genre>Action, Drama</Genre><Publisher>ACME</Publisher>'),
    'Beta/2.cbz': issue('Beta', 2),
    'Grown/1.cbz': issue(
      'Grown',
      1,
      '<Tags>robots, grown</Tags><Genre>Adult</Genre><Publisher>Night</Publisher>',
    ),
    'Grown/2.cbz': issue('Grown', 2, '<Tags>robots</Tags>'),
    'Gone/1.cbz': issue('Gone', 1, '<Genre>Lost</Genre><Publisher>Lost</Publisher>'),
    'Broken/1.cbz': Buffer.from('this is no archive'),
  })
  await library.scan()
  library.remove('Gone')
  library.remove('Beta/2.cbz')
  await library.scan()
  const other = await createTestLibrary(t, all, {
    'Other/1.cbz': issue('Other', 1, '<Publisher>ΟΔΟΣ</Publisher>'),
  })
  await other.scan()
  const { sql } = all
  await sql`update library set name = 'Attic' where id = ${other.id}`
  await sql`update book set age_rating = 18 where series_id in (select id from series where name = 'Grown')`
  await sql`update book set age_rating = 18 where title = 'Zebra'`
  await sql`update series set age_rating = null`
  const ids = (await sql<{ id: string }[]>`select id from series`).map(({ id }) => id)
  for (const refresh of [refreshLowestAge, refreshBooksMetadata]) await refresh(sql, ids)
  const series = await sql<{ id: string; name: string }[]>`select id, name from series`
  const idOf = (name: string) => series.find(row => row.name === name)!.id
  const reader = await all.createUser('reader')
  return { ...all, library, other, idOf, reader }
}

async function json(client: FeedClient, path: string): Promise<Json> {
  const { status, body } = await client.get(
    path.startsWith('http') ? below(path) : `/opds/v2${path}`,
  )
  if (status !== 200) throw new Error(`${path} answered ${status}`)
  return body
}

const below = (href: string) => href.replace(/^https?:\/\/[^/]+/, '')
const titlesOf = (feed: Json) =>
  [...(feed.navigation ?? []), ...(feed.publications ?? [])].map(titleOf)
const titleOf = (item: any): string => item.title ?? item.metadata.title
const link = (feed: Json, rel: string) => feed.links.find(link => link.rel === rel)?.href

/** Titles and total of an Atom feed. */
async function atom(client: FeedClient, path: string) {
  const { status, bytes } = await client.get(`/opds/v1${path}`)
  const text = bytes.toString()
  const [, ...entries] = text.split('<entry>')
  return {
    status,
    titles: entries.map(entry => /<title[^>]*>([^<]*)</.exec(entry)![1]!),
    total: Number(/totalResults>(\d+)</.exec(text)?.[1]),
  }
}

/** The titles of all pages, following `next`. */
async function allTitles(client: FeedClient, path: string): Promise<string[]> {
  const titles: string[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const feed: Json = await json(client, next)
    titles.push(...(feed.metadata.numberOfItems === 0 ? [] : titlesOf(feed)))
    next = link(feed, 'next')
    if (titles.length > 100) throw new Error(`${path} does not end`)
  }
  return titles
}

test('the feeds of the catalogs', async t => {
  const catalog = await createCatalog(t)
  const { reader, idOf, sql } = catalog
  const books = await sql<{ id: string; title: string; series: string; number: string }[]>`
    select b.id, b.title, b.number, s.name as series from book b join series s on s.id = b.series_id`
  const bookOf = (series: string, number: string) =>
    books.find(book => book.series === series && book.number === number)!.id
  const alpha = `/series/${idOf('Alpha')}`

  await t.test('the root links to every feed', async t => {
    const feeds = [
      ...['Keep reading', 'On deck', 'Want to read', 'Series to read', 'New books'],
      ...['Latest releases', 'All series', 'New series', 'Updated series', 'Libraries'],
      ...['Collections', 'Read lists', 'Saved filters', 'Publishers', 'Genres', 'Tags'],
    ]
    const { titles } = await atom(reader, '/catalog')
    t.same(titles, feeds)
    const root = await json(reader, '')
    t.same(root.navigation!.map(titleOf), feeds)
    t.equal(
      root.navigation!.find(entry => titleOf(entry) === 'New books')!.rel,
      'http://opds-spec.org/sort/new',
    )
    for (const entry of root.navigation!) await json(reader, entry.href)
  })

  await t.test('the home contains the groups that are not empty', async t => {
    const before = await json(reader, '')
    t.same(
      before.groups!.map(group => group.metadata.title),
      ['New books', 'New series'],
    )
    t.same(
      before.groups!.map(group => group.metadata.numberOfItems),
      [9, 5],
    )
    for (const group of before.groups!) {
      const { metadata } = await json(reader, link(group, 'self')!)
      t.equal(metadata.numberOfItems, group.metadata.numberOfItems, metadata.title)
    }
  })

  await t.test('books in progress are listed, most recently read first', async t => {
    const put = async (id: string, body: object) => {
      const client = await reader.put(`/books/${id}/progress`, body)
      t.equal(client.status, 200)
    }
    await put(bookOf('Beta', '1'), { currentPage: 1 })
    await put(bookOf('Alpha', '2'), { currentPage: 1 })
    await put(bookOf('Grown', '1'), { completed: true })
    const reading = await json(reader, '/keep-reading')
    t.equal(reading.metadata.numberOfItems, 2)
    t.match(titlesOf(reading), [/Alpha/, /Beta/])
    t.match(titlesOf(await json(reader, '/on-deck')), [/Grown.*2/])
    t.same((await atom(reader, '/keep-reading')).titles, titlesOf(reading))
    const home = await json(reader, '')
    t.same(
      home.groups!.map(group => group.metadata.title),
      ['Keep reading', 'On deck', 'New books', 'New series'],
    )
  })

  await t.test('following next reaches every item once', async t => {
    for (const path of ['/books/recent', '/books/released', '/series', '/series/recent', alpha]) {
      const { metadata } = await json(reader, path)
      const titles = await allTitles(reader, `${path}?pageSize=2`)
      t.equal(titles.length, metadata.numberOfItems, path)
      t.equal(new Set(titles).size, titles.length, path)
      t.equal((await atom(reader, path)).total, metadata.numberOfItems, `${path} as Atom`)
    }
    t.same(await allTitles(reader, '/series?pageSize=2'), [
      'Alpha',
      'Beta',
      'Broken',
      'Grown',
      'Other',
    ])
    t.same(
      titlesOf(await json(reader, '/books/released'))
        .slice(0, 2)
        .map(distinctPart),
      ['Zebra', '2'],
    )
  })

  await t.test('missing books, and series without present books, are in no feed', async t => {
    t.notMatch((await allTitles(reader, '/books/recent')).join(), /Gone|Beta 2/)
    t.equal((await json(reader, `/series/${idOf('Beta')}`)).metadata.numberOfItems, 1)
    t.equal((await reader.get(`/opds/v2/series/${idOf('Gone')}`)).status, 404)
    t.notMatch(titlesOf(await json(reader, '/publishers')), ['Lost'])
    t.notMatch(titlesOf(await json(reader, '/genres')), ['Lost'])
  })

  await t.test('an unreadable book can only be downloaded', async t => {
    const feed = await json(reader, `/series/${idOf('Broken')}`)
    const links = feed.publications![0]!.links.map(link => link.rel)
    t.ok(links.includes('http://opds-spec.org/acquisition'))
    const { bytes } = await reader.get(`/opds/v1/series/${idOf('Broken')}`)
    t.notMatch(bytes.toString(), 'opds-pse/stream')
    const [row] = await sql<{ reason: string }[]>`
      select error_message as reason from book where series_id = ${idOf('Broken')}`
    t.match(bytes.toString(), `This file cannot be read: ${row!.reason}`)
    const { metadata } = feed.publications![0] as { metadata: { description?: string } }
    t.equal(metadata.description, `This file cannot be read: ${row!.reason}`)
  })

  await t.test(
    'the books of a series are in order of their numbers, or sorted by a facet',
    async t => {
      const numbers = async (query: string) =>
        (await json(reader, `${alpha}${query}`)).publications!.map(
          book => book.metadata.title.match(/\d+|$/)![0],
        )
      t.same(await numbers(''), ['1', '2', '3', '10'])
      t.same(
        titlesOf(await json(reader, `${alpha}?sort=title`))
          .map(distinctPart)
          .at(-1),
        'Zebra',
      )
      t.same(await numbers('?read=in_progress'), ['2'])
      t.same(await numbers('?tag=ROBOTS'), ['2', '10'])
      for (const wrong of ['read=maybe', 'sort=size'])
        t.equal((await reader.get(`/opds/v2${alpha}?${wrong}`)).status, 400, wrong)
    },
  )

  await t.test('every facet has the count of its feed and preserves the other facets', async t => {
    const queries = [
      '',
      '?read=unread',
      '?tag=robots',
      '?read=unread&tag=space&sort=newest',
      '?tag=nothing',
    ]
    for (const query of queries) {
      const { facets } = await json(reader, alpha + query)
      t.same(
        facets!.map(group => group.metadata.title),
        ['Read status', 'Tag', 'Sort'],
      )
      for (const { metadata, links } of facets!) {
        const active = links.filter(link => link.rel === 'self')
        t.equal(active.length, 1, `${query} ${metadata.title}`)
        for (const facet of links) {
          const target = await json(reader, facet.href)
          t.equal(target.metadata.numberOfItems, facet.properties!.numberOfItems, facet.href)
          const sameGroup = target.facets!.find(group => group.metadata.title === metadata.title)!
          t.equal(sameGroup.links.find(link => link.rel === 'self')!.title, facet.title, facet.href)
        }
      }
    }
    const { facets } = await json(reader, alpha)
    // A label has the letter case that was read first.
    const counts = facets![1]!.links.map(facet => [
      facet.title.toLowerCase(),
      facet.properties!.numberOfItems,
    ])
    t.same(counts, [
      ['all', 4],
      ['robots', 2],
      ['space', 2],
    ])
  })

  await t.test('publishers, genres and tags have the count of their series', async t => {
    for (const path of ['/publishers', '/genres', '/tags']) {
      const feed = await json(reader, `${path}?pageSize=1`)
      const names = await allTitles(reader, `${path}?pageSize=1`)
      t.equal(names.length, feed.metadata.numberOfItems)
      t.equal(new Set(names).size, names.length, `${path}: each once`)
      t.same(
        names,
        names.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
      )
      const all = await json(reader, path)
      for (const entry of all.navigation!) {
        const target = await json(reader, entry.href)
        t.equal(target.metadata.numberOfItems, entry.properties!.numberOfItems, entry.title)
        t.equal(below(link(target, 'up')!), `/opds/v2${path}`)
      }
    }
    const heading = async (query: string) => (await json(reader, `/series?${query}`)).metadata.title
    t.equal(await heading('publisher=Acme'), 'Publisher: Acme')
    t.equal(await heading('genre=Action&tag=robots'), 'Genre: Action, Tag: robots')
    t.equal(await heading(`libraryId=${catalog.other.id}&tag=space`), 'Tag: space in Attic')
    t.equal(await heading(`libraryId=${catalog.other.id}`), 'All series in Attic')
    t.same((await atom(reader, '/genres')).titles, ['Action', 'Adult', 'Drama'])
    const acme = (await json(reader, '/publishers')).navigation!.filter(entry =>
      /acme/i.test(entry.title),
    )
    t.same(
      acme.map(entry => entry.properties!.numberOfItems),
      [2],
      'one publisher for both letter cases',
    )
  })

  await t.test('search finds books, and links to matching series', async t => {
    const found = await json(reader, '/search?query=alpha')
    t.equal(found.metadata.numberOfItems, 4)
    const related = await json(reader, link(found, 'related')!)
    t.same(titlesOf(related), ['Alpha'])
    t.equal((await atom(reader, '/search?q=ana%20author')).total, 1)
    t.equal((await atom(reader, '/search?q=%20')).total, 0)
    t.equal((await atom(reader, '/search')).total, 0)
    t.same(titlesOf(await json(reader, '/series?search=alpha&genre=drama')), [
      'Back to the catalog',
    ])
  })

  await t.test('hostile query values are handled', async t => {
    const hostile = ['%00', '%ED%A0%80', '%', "'%22%3C", '%25_', 'x'.repeat(10_000), '%F0%9F%92%A5']
    for (const value of hostile) {
      const paths = [
        '/search?q=',
        '/series?search=',
        '/series?publisher=',
        '/series?genre=',
        '/series?tag=',
      ]
      for (const path of [...paths, `${alpha}?tag=`, `${alpha}?read=`, '/books/recent?page=']) {
        const { status } = await reader.get(`/opds/v1${path}${value}`)
        t.ok(status === 200 || status === 400, `${path}${value.slice(0, 20)} ${status}`)
      }
    }
    const { status } = await reader.get('/opds/v1/books/recent?page=9007199254740991&pageSize=500')
    t.equal(status, 200)
  })

  await t.test('a library has its own feeds', async t => {
    const listed = await json(reader, '/libraries')
    t.same(titlesOf(listed), ['Attic', 'Shelf'])
    t.same(
      listed.navigation!.map(entry => entry.properties!.numberOfItems),
      [1, 4],
    )
    const path = `/libraries/${catalog.library.id}`
    t.same((await atom(reader, path)).titles, ['Alpha', 'Beta', 'Broken', 'Grown'])
    const home = await json(reader, path)
    t.equal(home.navigation![0]!.properties!.numberOfItems, 4)
    t.same(await allTitles(reader, home.navigation![0]!.href), ['Alpha', 'Beta', 'Broken', 'Grown'])
    t.equal(below(link(home, 'up')!), '/opds/v2/libraries')
    const plain = (await reader.get(`/opds/v1${path}`)).bytes.toString()
    t.match(plain, /rel="up" href="[^"]*\/opds\/v1\/libraries"/, 'up to the feed of libraries')
    t.same(
      home.groups!.map(group => group.metadata.numberOfItems),
      [2, 1, 8, 4],
    )
    for (const group of home.groups!) {
      const { metadata } = await json(reader, link(group, 'self')!)
      t.equal(metadata.numberOfItems, group.metadata.numberOfItems, metadata.title)
    }
  })

  await t.test('books hidden by an age limit are neither listed nor counted', async t => {
    await sql`update account set age_limit = 12 where id = ${reader.id}`
    const young = await catalog.createUser('reader')
    await sql`update account set age_limit = 12 where id = ${young.id}`
    const names = ['Alpha', 'Beta', 'Broken', 'Other']
    t.same(await allTitles(young, '/series?pageSize=3'), names)
    t.same((await allTitles(young, '/series/recent?pageSize=3')).toSorted(), names)
    t.equal((await young.get(`/opds/v2/series/${idOf('Grown')}`)).status, 404)
    const alphas = (await json(young, '/series')).navigation![0]!
    t.equal(alphas.properties!.numberOfItems, 3)
    t.equal((await json(young, alphas.href)).metadata.numberOfItems, 3)
    for (const path of [
      '/books/recent',
      '/books/released',
      '/series/recent',
      '/search?query=alpha',
    ]) {
      const { metadata } = await json(young, path)
      t.equal((await allTitles(young, path)).length, metadata.numberOfItems, path)
    }
    t.equal((await json(young, '/books/recent')).metadata.numberOfItems, 6)
    t.same(titlesOf(await json(young, '/libraries')), ['Attic', 'Shelf'])
    t.same(
      (await json(young, '/libraries')).navigation!.map(entry => entry.properties!.numberOfItems),
      [1, 3],
    )
    t.same(titlesOf(await json(young, '/genres')), ['Action', 'Drama'])
    t.same(
      titlesOf(await json(young, '/tags')).map(tag => tag.toLowerCase()),
      ['robots', 'space'],
    )
    const robots = (await json(young, '/tags')).navigation![0]!
    t.equal(
      (await json(young, robots.href)).metadata.numberOfItems,
      robots.properties!.numberOfItems,
    )
    t.notMatch(titlesOf(await json(young, '/publishers')).join(), /Night/)
  })

  await t.test('a hidden library is not found', async t => {
    const guest = await catalog.createUser('reader')
    await sql`update account set all_libraries = false where id = ${guest.id}`
    await sql`insert into account_library (account_id, library_id) values (${guest.id}, ${catalog.other.id})`
    t.same(titlesOf(await json(guest, '/libraries')), ['Attic'])
    t.same(titlesOf(await json(guest, '/series')), ['Other'])
    t.equal((await json(guest, '/books/recent')).metadata.numberOfItems, 1)
    for (const path of [
      `/libraries/${catalog.library.id}`,
      `/books/recent?libraryId=${catalog.library.id}`,
    ])
      t.equal((await guest.get(`/opds/v2${path}`)).status, 404, path)
    t.equal((await guest.get(`/opds/v1/libraries/${catalog.library.id}`)).status, 404)
    t.equal((await guest.get(`/opds/v2${alpha}`)).status, 404)
  })
})

test('series with equal titles are distinguished within a page', async t => {
  const all = await startApi(t)
  const first = await createTestLibrary(t, all, {
    'Seven/1.cbz': issue('Seven', 1),
    'Eight/1.cbz': issue('Eight', 1),
    'a/Nine/1.cbz': issue('Nine', 1),
  })
  const second = await createTestLibrary(t, all, {
    'Seven/1.cbz': issue('Seven', 1),
    'Eight/1.cbz': issue('Eight', 1),
  })
  await first.scan()
  await second.scan()
  const { sql } = all
  await sql`update library set name = 'Attic' where id = ${second.id}`
  await sql`update series set title = 'Nine' where name = 'Eight'`
  const reader = await all.createUser('reader')
  const titles = [
    ...['Nine (Attic: Eight)', 'Nine (Shelf: Eight)', 'Nine (Shelf: a/Nine)'],
    ...['Seven (Attic)', 'Seven (Shelf)'],
  ]
  t.same(titlesOf(await json(reader, '/series')).toSorted(), titles)
  t.same((await atom(reader, '/series')).titles.toSorted(), titles)
  const own = (id: string) => json(reader, `/libraries/${id}/browse`)
  t.same(titlesOf(await own(first.id)).toSorted(), ['Nine (Eight)', 'Nine (Nine)', 'Seven'])
  t.same(titlesOf(await own(second.id)), ['Nine', 'Seven'])
})

/** The part of a title that differs between books. */
const distinctPart = (title: string) => /Zebra/.exec(title)?.[0] ?? /\d+/.exec(title)?.[0] ?? title
