// What is in the feeds of both catalogues: which books and series, in what order, and how many.
import { type Test, test } from 'tap'
import { settleLowestAge } from '../../lib/catalog/series/lowest-age.ts'
import { comic, shelve } from '../kit/library.ts'
import { serve } from '../kit/server.ts'

type Item = { title: string; href: string; properties?: { numberOfItems?: number }; rel?: string }
type Json = {
  metadata: { title: string; numberOfItems: number; identifier?: string }
  links: { rel: string; href: string; templated?: boolean }[]
  navigation?: Item[]
  publications?: { metadata: { title: string; identifier: string }; links: Item[] }[]
  facets?: { metadata: { title: string }; links: Item[] }[]
  groups?: (Json & { metadata: { title: string; numberOfItems: number } })[]
}
type Asking = { get: (path: string) => Promise<{ status: number; body: any; bytes: Buffer }> }

const info = (series: string, number: number, more = '') =>
  `<?xml version="1.0"?><ComicInfo><Series>${series}</Series><Number>${number}</Number>${more}</ComicInfo>`
const of = (series: string, number: number, more = '') =>
  comic({ pages: 2, info: info(series, number, more) })

async function library(t: Test) {
  const all = await serve(t)
  const shelf = await shelve(t, all, {
    'Alpha/10.cbz': of('Alpha', 10, '<Tags>robots, space</Tags><Publisher>Acme</Publisher>'),
    'Alpha/2.cbz': of(
      'Alpha',
      2,
      '<Tags>Robots</Tags><Publisher>Acme</Publisher><Year>1999</Year>',
    ),
    'Alpha/1.cbz': of(
      'Alpha',
      1,
      '<Tags>space</Tags><Genre>Action</Genre><Writer>Ana Author</Writer>',
    ),
    'Alpha/3.cbz': of('Alpha', 3, '<Title>Zebra</Title><Year>2024</Year>'),
    'Beta/1.cbz': of('Beta', 1, '<Genre>Action, Drama</Genre><Publisher>ACME</Publisher>'),
    'Beta/2.cbz': of('Beta', 2),
    'Grown/1.cbz': of(
      'Grown',
      1,
      '<Tags>robots, grown</Tags><Genre>Adult</Genre><Publisher>Night</Publisher>',
    ),
    'Grown/2.cbz': of('Grown', 2, '<Tags>robots</Tags>'),
    'Gone/1.cbz': of('Gone', 1, '<Genre>Lost</Genre><Publisher>Lost</Publisher>'),
    'Broken/1.cbz': Buffer.from('this is no archive'),
  })
  await shelf.scan()
  shelf.remove('Gone')
  shelf.remove('Beta/2.cbz')
  await shelf.scan()
  const other = await shelve(t, all, {
    'Other/1.cbz': of('Other', 1, '<Publisher>ΟΔΟΣ</Publisher>'),
  })
  await other.scan()
  const { sql } = all
  await sql`update library set name = 'Attic' where id = ${other.id}`
  await sql`update book set age_rating = 18 where series_id in (select id from series where name = 'Grown')`
  await sql`update book set age_rating = 18 where title = 'Zebra'`
  await sql`update series set age_rating = null`
  const rated = await sql<{ id: string }[]>`select id from series`
  await settleLowestAge(
    sql,
    rated.map(series => series.id),
  )
  const series = await sql<{ id: string; name: string }[]>`select id, name from series`
  const idOf = (name: string) => series.find(one => one.name === name)!.id
  const reader = await all.as('reader')
  return { ...all, shelf, other, idOf, reader }
}

async function json(client: Asking, path: string): Promise<Json> {
  const { status, body } = await client.get(
    path.startsWith('http') ? below(path) : `/opds/v2${path}`,
  )
  if (status !== 200) throw new Error(`${path} answered ${status}`)
  return body
}

const below = (href: string) => href.replace(/^https?:\/\/[^/]+/, '')
const shown = (feed: Json) =>
  [...(feed.navigation ?? []), ...(feed.publications ?? [])].map(titleOf)
const titleOf = (item: any): string => item.title ?? item.metadata.title
const link = (feed: Json, rel: string) => feed.links.find(one => one.rel === rel)?.href

/** Titles and total of an Atom feed. */
async function atom(client: Asking, path: string) {
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
async function chain(client: Asking, path: string): Promise<string[]> {
  const titles: string[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const feed: Json = await json(client, next)
    titles.push(...(feed.metadata.numberOfItems === 0 ? [] : shown(feed)))
    next = link(feed, 'next')
    if (titles.length > 100) throw new Error(`${path} does not end`)
  }
  return titles
}

test('the shelves of the catalogues', async t => {
  const w = await library(t)
  const { reader, idOf, sql } = w
  const books = await sql<{ id: string; title: string; series: string; number: string }[]>`
    select b.id, b.title, b.number, s.name as series from book b join series s on s.id = b.series_id`
  const bookOf = (series: string, number: string) =>
    books.find(book => book.series === series && book.number === number)!.id
  const alpha = `/series/${idOf('Alpha')}`

  await t.test('the root leads to everything that is there', async t => {
    const ways = [
      ...['Keep reading', 'On deck', 'New books', 'Latest releases', 'All series', 'New series'],
      ...['Updated series', 'Libraries', 'Publishers', 'Genres', 'Tags'],
    ]
    const { titles } = await atom(reader, '/catalog')
    t.same(titles, ways)
    const root = await json(reader, '')
    t.same(root.navigation!.map(titleOf), ways)
    t.equal(
      root.navigation!.find(way => titleOf(way) === 'New books')!.rel,
      'http://opds-spec.org/sort/new',
    )
    for (const way of root.navigation!) await json(reader, way.href)
  })

  await t.test('the home shows what is not empty', async t => {
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

  await t.test('what is read is kept at hand, the last first', async t => {
    const put = async (id: string, body: object) => {
      const client = await reader.put(`/books/${id}/progress`, body)
      t.equal(client.status, 200)
    }
    await put(bookOf('Beta', '1'), { currentPage: 1 })
    await put(bookOf('Alpha', '2'), { currentPage: 1 })
    await put(bookOf('Grown', '1'), { completed: true })
    const reading = await json(reader, '/keep-reading')
    t.equal(reading.metadata.numberOfItems, 2)
    t.match(shown(reading), [/Alpha/, /Beta/])
    t.match(shown(await json(reader, '/on-deck')), [/Grown.*2/])
    t.same((await atom(reader, '/keep-reading')).titles, shown(reading))
    const home = await json(reader, '')
    t.same(
      home.groups!.map(group => group.metadata.title),
      ['Keep reading', 'On deck', 'New books', 'New series'],
    )
  })

  await t.test('pages follow one another and end', async t => {
    for (const path of ['/books/recent', '/books/released', '/series', '/series/recent', alpha]) {
      const { metadata } = await json(reader, path)
      const titles = await chain(reader, `${path}?pageSize=2`)
      t.equal(titles.length, metadata.numberOfItems, path)
      t.equal(new Set(titles).size, titles.length, path)
      t.equal((await atom(reader, path)).total, metadata.numberOfItems, `${path} as Atom`)
    }
    t.same(await chain(reader, '/series?pageSize=2'), ['Alpha', 'Beta', 'Broken', 'Grown', 'Other'])
    t.same(
      shown(await json(reader, '/books/released'))
        .slice(0, 2)
        .map(is),
      ['Zebra', '2'],
    )
  })

  await t.test(
    'missing books and series without a present one are no part of any feed',
    async t => {
      t.notMatch((await chain(reader, '/books/recent')).join(), /Gone|Beta 2/)
      t.equal((await json(reader, `/series/${idOf('Beta')}`)).metadata.numberOfItems, 1)
      t.equal((await reader.get(`/opds/v2/series/${idOf('Gone')}`)).status, 404)
      t.notMatch(shown(await json(reader, '/publishers')), ['Lost'])
      t.notMatch(shown(await json(reader, '/genres')), ['Lost'])
    },
  )

  await t.test('a book that cannot be read can be downloaded and nothing else', async t => {
    const feed = await json(reader, `/series/${idOf('Broken')}`)
    const links = feed.publications![0]!.links.map(one => one.rel)
    t.ok(links.includes('http://opds-spec.org/acquisition'))
    const { bytes } = await reader.get(`/opds/v1/series/${idOf('Broken')}`)
    t.notMatch(bytes.toString(), 'opds-pse/stream')
    const [row] = await sql<{ why: string }[]>`
      select error_message as why from book where series_id = ${idOf('Broken')}`
    t.match(bytes.toString(), `This file cannot be read: ${row!.why}`)
    const { metadata } = feed.publications![0] as { metadata: { description?: string } }
    t.equal(metadata.description, `This file cannot be read: ${row!.why}`)
  })

  await t.test('a series is read in the order of its numbers, or as a facet says', async t => {
    const numbers = async (query: string) =>
      (await json(reader, `${alpha}${query}`)).publications!.map(
        p => p.metadata.title.match(/\d+|$/)![0],
      )
    t.same(await numbers(''), ['1', '2', '3', '10'])
    t.same(
      shown(await json(reader, `${alpha}?sort=title`))
        .map(is)
        .at(-1),
      'Zebra',
    )
    t.same(await numbers('?read=in_progress'), ['2'])
    t.same(await numbers('?tag=ROBOTS'), ['2', '10'])
    for (const wrong of ['read=maybe', 'sort=size'])
      t.equal((await reader.get(`/opds/v2${alpha}?${wrong}`)).status, 400, wrong)
  })

  await t.test('every facet counts what it leads to and keeps the others', async t => {
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
        const active = links.filter(one => one.rel === 'self')
        t.equal(active.length, 1, `${query} ${metadata.title}`)
        for (const facet of links) {
          const led = await json(reader, facet.href)
          t.equal(led.metadata.numberOfItems, facet.properties!.numberOfItems, facet.href)
          const same = led.facets!.find(group => group.metadata.title === metadata.title)!
          t.equal(same.links.find(one => one.rel === 'self')!.title, facet.title, facet.href)
        }
      }
    }
    const { facets } = await json(reader, alpha)
    // Which spelling names a label is which was read first.
    const counts = facets![1]!.links.map(one => [
      one.title.toLowerCase(),
      one.properties!.numberOfItems,
    ])
    t.same(counts, [
      ['all', 4],
      ['robots', 2],
      ['space', 2],
    ])
  })

  await t.test('publishers, genres and tags lead to as many series as they say', async t => {
    for (const path of ['/publishers', '/genres', '/tags']) {
      const feed = await json(reader, `${path}?pageSize=1`)
      const names = await chain(reader, `${path}?pageSize=1`)
      t.equal(names.length, feed.metadata.numberOfItems)
      t.same(
        names,
        names.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
      )
      const all = await json(reader, path)
      for (const one of all.navigation!) {
        const led = await json(reader, one.href)
        t.equal(led.metadata.numberOfItems, one.properties!.numberOfItems, one.title)
        t.equal(below(link(led, 'up')!), `/opds/v2${path}`)
      }
    }
    const heading = async (query: string) => (await json(reader, `/series?${query}`)).metadata.title
    t.equal(await heading('publisher=Acme'), 'Publisher: Acme')
    t.equal(await heading('genre=Action&tag=robots'), 'Genre: Action, Tag: robots')
    t.equal(await heading(`libraryId=${w.other.id}&tag=space`), 'Tag: space in Attic')
    t.equal(await heading(`libraryId=${w.other.id}`), 'All series in Attic')
    t.same((await atom(reader, '/genres')).titles, ['Action', 'Adult', 'Drama'])
    const acme = (await json(reader, '/publishers')).navigation!.filter(p => /acme/i.test(p.title))
    t.same(
      acme.map(one => one.properties!.numberOfItems),
      [2],
      'one publisher however it is written',
    )
  })

  await t.test('words find books, and series beside them', async t => {
    const found = await json(reader, '/search?query=alpha')
    t.equal(found.metadata.numberOfItems, 4)
    const related = await json(reader, link(found, 'related')!)
    t.same(shown(related), ['Alpha'])
    t.equal((await atom(reader, '/search?q=ana%20author')).total, 1)
    t.equal((await atom(reader, '/search?q=%20')).total, 0)
    t.equal((await atom(reader, '/search')).total, 0)
    t.same(shown(await json(reader, '/series?search=alpha&genre=drama')), ['Back to the catalogue'])
  })

  await t.test('values that are no words break nothing', async t => {
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

  await t.test('a library has its own shelves', async t => {
    const listed = await json(reader, '/libraries')
    t.same(shown(listed), ['Attic', 'Shelf'])
    t.same(
      listed.navigation!.map(one => one.properties!.numberOfItems),
      [1, 4],
    )
    const path = `/libraries/${w.shelf.id}`
    t.same((await atom(reader, path)).titles, ['Alpha', 'Beta', 'Broken', 'Grown'])
    const home = await json(reader, path)
    t.equal(home.navigation![0]!.properties!.numberOfItems, 4)
    t.same(await chain(reader, home.navigation![0]!.href), ['Alpha', 'Beta', 'Broken', 'Grown'])
    t.equal(below(link(home, 'up')!), '/opds/v2/libraries')
    const plain = (await reader.get(`/opds/v1${path}`)).bytes.toString()
    t.match(plain, /rel="up" href="[^"]*\/opds\/v1\/libraries"/, 'back to where one came from')
    t.same(
      home.groups!.map(group => group.metadata.numberOfItems),
      [2, 1, 8, 4],
    )
    for (const group of home.groups!) {
      const { metadata } = await json(reader, link(group, 'self')!)
      t.equal(metadata.numberOfItems, group.metadata.numberOfItems, metadata.title)
    }
  })

  await t.test('what an age limit hides is neither shown nor counted', async t => {
    await sql`update account set age_limit = 12 where id = ${reader.id}`
    const young = await w.as('reader')
    await sql`update account set age_limit = 12 where id = ${young.id}`
    const names = ['Alpha', 'Beta', 'Broken', 'Other']
    t.same(await chain(young, '/series?pageSize=3'), names)
    t.same((await chain(young, '/series/recent?pageSize=3')).toSorted(), names)
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
      t.equal((await chain(young, path)).length, metadata.numberOfItems, path)
    }
    t.equal((await json(young, '/books/recent')).metadata.numberOfItems, 6)
    t.same(shown(await json(young, '/libraries')), ['Attic', 'Shelf'])
    t.same(
      (await json(young, '/libraries')).navigation!.map(n => n.properties!.numberOfItems),
      [1, 3],
    )
    t.same(shown(await json(young, '/genres')), ['Action', 'Drama'])
    t.same(
      shown(await json(young, '/tags')).map(tag => tag.toLowerCase()),
      ['robots', 'space'],
    )
    const robots = (await json(young, '/tags')).navigation![0]!
    t.equal(
      (await json(young, robots.href)).metadata.numberOfItems,
      robots.properties!.numberOfItems,
    )
    t.notMatch(shown(await json(young, '/publishers')).join(), /Night/)
  })

  await t.test('a library that is hidden is not there', async t => {
    const guest = await w.as('reader')
    await sql`update account set all_libraries = false where id = ${guest.id}`
    await sql`insert into account_library (account_id, library_id) values (${guest.id}, ${w.other.id})`
    t.same(shown(await json(guest, '/libraries')), ['Attic'])
    t.same(shown(await json(guest, '/series')), ['Other'])
    t.equal((await json(guest, '/books/recent')).metadata.numberOfItems, 1)
    for (const path of [`/libraries/${w.shelf.id}`, `/books/recent?libraryId=${w.shelf.id}`])
      t.equal((await guest.get(`/opds/v2${path}`)).status, 404, path)
    t.equal((await guest.get(`/opds/v1/libraries/${w.shelf.id}`)).status, 404)
    t.equal((await guest.get(`/opds/v2${alpha}`)).status, 404)
  })
})

test('series of one title are told apart where they stand together', async t => {
  const all = await serve(t)
  const first = await shelve(t, all, {
    'Seven/1.cbz': of('Seven', 1),
    'Eight/1.cbz': of('Eight', 1),
    'a/Nine/1.cbz': of('Nine', 1),
  })
  const second = await shelve(t, all, {
    'Seven/1.cbz': of('Seven', 1),
    'Eight/1.cbz': of('Eight', 1),
  })
  await first.scan()
  await second.scan()
  const { sql } = all
  await sql`update library set name = 'Attic' where id = ${second.id}`
  await sql`update series set title = 'Nine' where name = 'Eight'`
  const reader = await all.as('reader')
  const titles = [
    ...['Nine (Attic: Eight)', 'Nine (Shelf: Eight)', 'Nine (Shelf: a/Nine)'],
    ...['Seven (Attic)', 'Seven (Shelf)'],
  ]
  t.same(shown(await json(reader, '/series')).toSorted(), titles)
  t.same((await atom(reader, '/series')).titles.toSorted(), titles)
  const own = (id: string) => json(reader, `/libraries/${id}/browse`)
  t.same(shown(await own(first.id)).toSorted(), ['Nine (Eight)', 'Nine (Nine)', 'Seven'])
  t.same(shown(await own(second.id)), ['Nine', 'Seven'])
})

/** What sets a title apart. */
const is = (title: string) => /Zebra/.exec(title)?.[0] ?? /\d+/.exec(title)?.[0] ?? title
