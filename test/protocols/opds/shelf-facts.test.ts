// Facts of shelves and their entries: update time, how many items by whom, equal
// names of libraries, files that cannot be read, matching series in searches.
import { type Test, test } from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { readXml } from '../../kit/opds/atom.ts'
import { startApi } from '../../kit/server.ts'

const info = (more: string) => `<?xml version="1.0"?><ComicInfo>${more}</ComicInfo>`
const people = ['Ann A', 'Ben B', 'Cem C', 'Dan D', 'Eve E']

async function createCatalog(t: Test) {
  const all = await startApi(t)
  const shelf = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic({
      info: info(
        `<Writer>${people.join(', ')}</Writer><Genre>Drama</Genre><Publisher>Acme</Publisher><Year>2001</Year><Tags>red</Tags>`,
      ),
    }),
    'Alpha/2.cbz': comic(),
    'Beta/1.cbz': comic({ info: info('<Writer>Ann A</Writer><Genre>Crime</Genre>') }),
    'Broken/1.cbz': Buffer.from('no archive'),
    'Gone/1.cbz': comic(),
    'Secret/1.cbz': comic({ info: info('<Genre>Drama</Genre><Publisher>Acme</Publisher>') }),
  })
  await shelf.scan()
  shelf.remove('Gone/1.cbz')
  await shelf.scan()
  const other = await createTestLibrary(t, all, { 'Gamma/1.cbz': comic() })
  await other.scan()
  const admin = await all.createUser('admin')
  const limited = await all.createUser('reader')
  const books = [...(await shelf.books()), ...(await other.books())]
  const idOf = (series: string) => books.find(book => book.series === series)!.seriesId
  await hideSeries(all.sql, limited.id, [idOf('Secret')])
  return { ...all, shelf, other, admin, limited, books, idOf }
}
type Catalog = Awaited<ReturnType<typeof createCatalog>>
type Client = Catalog['admin']

async function atom(client: Client, path: string) {
  const { status, bytes } = await client.get(`/opds/v1${path}`)
  if (status !== 200) throw new Error(`${path} has status ${status}`)
  return readXml(bytes.toString())
}

test('facts of shelves', async t => {
  const all = await createCatalog(t)
  await t.test('shelves were updated with what they list, not with scans', t => updates(t, all))
  await t.test('descriptions have counts, authors and the summary', t => descriptions(t, all))
  await t.test('a collection or read list has a cover unless it is empty', t => covers(t, all))
  await t.test('libraries with equal names have different titles', t => names(t, all))
  await t.test('a file that cannot be read is marked in every feed', t => marks(t, all))
  await t.test('a search of OPDS 2.0 has a group of series', t => searches(t, all))
  await t.test('subjects of OPDS 2.0 are objects that lead to their series', t => subjects(t, all))
})

const shelves = [
  ...['/keep-reading', '/on-deck', '/books/recent', '/books/released', '/series'],
  ...['/series/recent', '/series/updated', '/libraries', '/publishers', '/genres', '/tags'],
]

// They have the series' time instead of their own.
const listsOfReaders = [
  ...['/collections', '/presets', '/readlists', '/want-to-read', '/want-to-read/series'],
]

async function updates(t: Test, { admin, limited, sql, shelf, books, idOf }: Catalog) {
  const viewers = [admin, limited]
  const bookOf = (series: string) => books.find(book => book.series === series)!.id
  for (const viewer of viewers) {
    await viewer.put(`/books/${bookOf('Beta')}/progress`, { currentPage: 1 })
    await viewer.post(`/books/${bookOf('Alpha')}/read`)
  }
  const state = async (viewer: Client) => {
    const entries: [string, string | null][] = []
    for (const path of ['/catalog', '/libraries', '/publishers', '/genres', '/tags'])
      for (const item of (await atom(viewer, path)).items)
        entries.push([`${path} ${item.links[0]!.href.split('/opds/v1')[1]}`, item.updated])
    return Object.fromEntries(entries)
  }
  const differences = async (viewer: Client, before: Record<string, string | null>) => {
    const after = await state(viewer)
    return Object.keys(after).filter(key => after[key] !== before[key])
  }
  // Distinct times in the past, so that every change is visible at a precision of seconds.
  await sql`update book set updated_at = now() - interval '5 days'`
  await sql`update series set updated_at = now() - interval '4 days', metadata_changed_at = null`
  await sql`update library set updated_at = now() - interval '6 days'`
  const before = await Promise.all(viewers.map(state))
  await shelf.scan()
  for (const [i, viewer] of viewers.entries())
    t.same(await differences(viewer, before[i]!), [], 'a scan that finds nothing')
  const root = (path: string) => `/catalog ${path}`
  const ofSeries = [
    ...shelves.filter(path => !/^\/(?:books|keep|on-deck)/.test(path)),
    ...listsOfReaders,
  ].map(root)
  const cases: [
    what: string,
    change: () => Promise<unknown>,
    admin: string[],
    limited: string[],
  ][] = [
    [
      'a book in progress',
      () =>
        sql`update book set updated_at = now() - interval '3 days' where id = ${bookOf('Beta')}`,
      [root('/keep-reading'), root('/books/recent')],
      [root('/keep-reading'), root('/books/recent')],
    ],
    [
      'a released book',
      () => sql`update book set updated_at = now() - interval '2 days' where year = 2001`,
      [root('/books/recent'), root('/books/released')],
      [root('/books/recent'), root('/books/released')],
    ],
    [
      'a hidden book',
      () =>
        sql`update book set updated_at = now() - interval '1 days' where id = ${bookOf('Secret')}`,
      [root('/books/recent')],
      [],
    ],
    [
      'a series',
      () =>
        sql`update series set updated_at = now() - interval '20 hours' where id = ${idOf('Beta')}`,
      [...ofSeries, `/libraries /libraries/${shelf.id}`, '/genres /series?genre=Crime'],
      [...ofSeries, `/libraries /libraries/${shelf.id}`, '/genres /series?genre=Crime'],
    ],
    [
      'a hidden series',
      () =>
        sql`update series set updated_at = now() - interval '10 hours' where id = ${idOf('Secret')}`,
      [
        ...[...ofSeries, `/libraries /libraries/${shelf.id}`],
        ...['/publishers /series?publisher=Acme', '/genres /series?genre=Drama'],
      ],
      [],
    ],
    [
      'a series without books',
      () => sql`update series set updated_at = now() where book_count = 0`,
      [],
      [],
    ],
  ]
  for (const [what, change, ...expected] of cases) {
    const before = await Promise.all(viewers.map(state))
    await change()
    for (const [i, viewer] of viewers.entries())
      t.same((await differences(viewer, before[i]!)).sort(), expected[i]!.toSorted(), what)
  }
  const [newest] = (await atom(limited, '/catalog')).items.filter(item =>
    /\/series$/.test(item.links[0]!.href),
  )
  t.equal(newest!.updated, (await atom(limited, '/series')).updated, 'as the feed itself')
}

async function covers(t: Test, { admin, idOf, books }: Catalog) {
  const [seriesIds, bookIds] = [[idOf('Beta')], [books[0]!.id]]
  const condition = { genre: { operator: 'is', value: 'Crime' } }
  const groups = [
    { path: '/collections', title: 'By a rule', members: { condition } },
    { path: '/collections', title: 'Empty', members: { seriesIds: [] } },
    { path: '/collections', title: 'One', members: { seriesIds } },
    { path: '/readlists', title: 'Empty', members: { bookIds: [] } },
    { path: '/readlists', title: 'One', members: { bookIds } },
  ]
  for (const { path, title, members } of groups)
    t.equal((await admin.post(path, { name: title, ...members })).status, 201)
  for (const path of ['/collections', '/readlists'])
    for (const { title, links } of (await atom(admin, path)).items) {
      const images = links.filter(({ rels }) => rels[0]!.startsWith('http://opds-spec.org/image'))
      t.equal(images.length, title === 'Empty' ? 0 : 2, `${path} ${title}`)
      for (const { href } of images)
        t.equal((await admin.get(new URL(href).pathname)).status, 200, href)
    }
}

async function descriptions(t: Test, { admin, idOf, sql, shelf }: Catalog) {
  await sql`update series set summary = ${'Long words. '.repeat(100)} where id = ${idOf('Beta')}`
  const contents = async (path: string) => {
    const { bytes } = await admin.get(`/opds/v1${path}`)
    const texts = [...bytes.toString().matchAll(/<content type="text">([^<]*)</g)].map(m => m[1]!)
    t.equal(texts.length, (await atom(admin, path)).items.length, `${path} describes all entries`)
    return texts
  }
  const series = await contents('/series')
  t.equal(series[0], '2 books by Ann A, Ben B, Cem C and 2 others.')
  t.match(series[1], /^1 book by Ann A\. (?:Long words\. )+Long(?: words\.)?…$/)
  t.ok(series[1]!.length < 330)
  t.match(await contents('/libraries'), [/^4 series$/, /^1 series$/])
  t.match(await contents('/genres'), ['1 series', '2 series'])
  for (const text of await contents('/catalog')) t.match(text, /^[A-Z].+\.$/)
  t.match((await contents(`/libraries/${shelf.id}`))[0], /^2 books/)
}

async function names(t: Test, { admin, createUser, sql, shelf, other }: Catalog) {
  const titles = async (viewer: Client) =>
    (await atom(viewer, '/libraries')).items.map(item => item.title)
  await sql`update library set name = 'Comics' where id = ${shelf.id}`
  await sql`update library set name = 'comics' where id = ${other.id}`
  t.same((await titles(admin)).sort(), ['Comics', 'comics (2)'])
  const home = await admin.get(`/opds/v2/libraries/${other.id}`)
  t.equal(home.body.metadata.title, 'comics (2)')
  const alone = await createUser('reader')
  await sql`update account set all_libraries = false where id = ${alone.id}`
  await sql`insert into account_library (account_id, library_id) values (${alone.id}, ${other.id})`
  t.same(await titles(alone), ['comics'], 'hidden ones do not count')
}

async function marks(t: Test, { admin, idOf }: Catalog) {
  const isMarked = (title: string) => / \(unreadable\)$/.test(title)
  const path = `/series/${idOf('Broken')}`
  for (const feed of ['/books/recent', path]) {
    const { items } = await atom(admin, feed)
    t.equal(items.filter(({ title }) => isMarked(title)).length, 1, feed)
    const { body } = await admin.get(`/opds/v2${feed}`)
    const titles: string[] = body.publications.map((book: any) => book.metadata.title)
    t.equal(titles.filter(isMarked).length, 1)
    t.equal(titles.length, items.length)
  }
}

async function searches(t: Test, { admin, limited }: Catalog) {
  const groups = async (viewer: Client, query: string) => {
    const { body } = await viewer.get(`/opds/v2/search?${query}`)
    return (body.groups ?? []).map((group: any) => [
      group.metadata.title,
      group.metadata.numberOfItems,
      group.navigation.map((item: any) => item.title),
    ])
  }
  t.same(await groups(admin, 'query=beta'), [['Matching series', 1, ['Beta']]])
  t.same(await groups(admin, 'query=secret'), [['Matching series', 1, ['Secret']]])
  t.same(await groups(limited, 'query=secret'), [], 'hidden series do not match')
  t.same(await groups(admin, 'query=beta&page=2'), [], 'only on the first page')
}

async function subjects(t: Test, { admin, base, books }: Catalog) {
  const { id } = books.find(book => book.series === 'Alpha' && book.name === '1.cbz')!
  const { body } = await admin.get(`/opds/v2/books/${id}`)
  const subject: { name: string; links: { href: string; type: string }[] }[] = body.metadata.subject
  t.same(
    subject.map(({ name }) => name),
    ['Drama', 'red'],
  )
  for (const { name, links } of subject) {
    t.equal(links[0]!.type, 'application/opds+json')
    const feed = await admin.get(links[0]!.href.slice(base.length))
    const titles = feed.body.navigation.map((item: { title: string }) => item.title)
    t.ok(titles.includes('Alpha'), `${name} leads to the series`)
  }
}
