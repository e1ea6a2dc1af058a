// Small catalog with data for every operation: visible and hidden series, books of several
// formats, accounts, API keys, sharing tags; and existing values for path parameters.
import { newId } from '../../lib/base/id.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Scope } from './db.ts'
import { epubBytes } from './files/epub.ts'
import { pdfOf, stream } from './files/pdf.ts'
import { comic, createTestLibrary } from './library.ts'
import { insertReleaseSource, item, pollItems } from './releases/polls.ts'
import { startApi } from './server.ts'

export type Fixture = Awaited<ReturnType<typeof createFixture>>

const info = (series: string, number: number, more = '') =>
  `<?xml version="1.0"?><ComicInfo><Series>${series}</Series><Number>${number}</Number><Genre>Action, Drama</Genre><Tags>robots, space</Tags><Writer>Ana Author</Writer>${more}</ComicInfo>`

/** Libraries of the same series each; the series `Hidden` has the sharing tag `secret`. */
export async function createFixture(
  t: Scope,
  {
    libraryCount = 1,
    settings = {},
  }: { libraryCount?: number; settings?: Record<string, unknown> } = {},
) {
  const api = await startApi(t, settings)
  const libraries = []
  for (let i = 0; i < libraryCount; i++) {
    const library = await createTestLibrary(t, api, {
      'Alpha/1.cbz': comic({ pages: 3, info: info('Alpha', 1) }),
      'Alpha/2.cbz': comic({ pages: 2, info: info('Alpha', 2, '<AgeRating>Teen</AgeRating>') }),
      'Beta/1.cbz': comic({ pages: 2 }),
      'Beta/2.cbz': comic({ pages: 2 }),
      'Hidden/1.cbz': comic({ pages: 2, info: info('Hidden', 1, '<Title>Unseen title</Title>') }),
      'Novel/novel.epub': novel,
      'Paper/report.pdf': report,
      'Twin/a.cbz': twin,
      'Twin/b.cbz': twin,
      'Broken/1.cbz': Buffer.from('this is no archive'),
    })
    await library.scan()
    libraries.push(library)
  }
  await api.dedupe()
  const { sql } = api
  const admin = await api.createUser('admin')
  // Accounts and keys that a test may change and delete.
  for (let i = 0; i < 5; i++) await api.createUser('reader', { username: `spare-${i}` })
  const tag = await admin.post('/admin/sharing-tags', { name: 'secret' })
  const hidden = await sql<{ id: string }[]>`select id from series where name = 'Hidden'`
  for (const { id } of hidden)
    await admin.post(`/series/${id}/sharing-tags`, { sharingTagId: tag.body.id })
  await organize(sql, admin)
  await announce(sql, admin)
  const secretTag = tag.body.id as string
  return { ...api, admin, libraries, secretTag, ids: await parameterValues(sql) }
}

/** What accounts organize: ratings, wanted items, presets, titles. */
async function organize(sql: Sql, admin: Client) {
  const [series] = await sql<
    { id: string }[]
  >`select id from series where name = 'Alpha' order by id`
  const [book] = await sql<{ id: string }[]>`select id from book order by id`
  const path = `/series/${series!.id}`
  await admin.put(`${path}/rating`, { rating: 80, notes: 'Worth reading twice' })
  await admin.post(`${path}/alternate-titles`, { label: 'de', title: 'Das Alpha' })
  await admin.post(`${path}/external-ratings`, { sourceName: 'critics', rating: 71.5 })
  await admin.post('/want-to-read/bulk', { seriesIds: [series!.id], bookIds: [book!.id] })
  const condition = { userRating: { operator: 'gte', value: 50 } }
  await admin.post(`/books/${book!.id}/annotations`, { kind: 'bookmark', locator: onPage(1) })
  await admin.post('/filter-presets', { name: 'Liked', scope: 'list', target: 'series', condition })
  await group(sql, admin)
}

const onPage = (position: number) => ({
  href: 'page',
  type: 'image/jpeg',
  locations: { position },
})

/** Releases of a visible and of a hidden series. */
async function announce(sql: Sql, admin: Client) {
  const rows = await sql<{ id: string }[]>`
    select id from series where name in ('Alpha', 'Hidden') order by id`
  await admin.post('/series/bulk/track-for-releases', { seriesIds: rows.map(({ id }) => id) })
  const { id } = await insertReleaseSource(sql)
  await sql`
    insert into source (id, type, name, display_name, config)
    values (${newId()}, 'plugin', 'plugin:fixture', 'A plugin', '{"plugin": "absent"}')`
  const items = ['Alpha', 'Hidden'].map(title =>
    item({ externalReleaseId: title, title: `${title} c7`, seriesTitles: [title] }),
  )
  await pollItems(sql, id, items)
}

/** Collections and read lists: of visible and hidden members, of hidden ones only, by a rule. */
async function group(sql: Sql, admin: Client) {
  const books = await sql<{ id: string; seriesId: string; isHidden: boolean }[]>`
    select b.id, s.id as "seriesId", s.name = 'Hidden' as "isHidden"
    from book b join series s on s.id = b.series_id order by s.name desc, b.id`
  const hidden = books.filter(book => book.isHidden)
  const idsOf = (of: typeof hidden) => ({
    seriesIds: [...new Set(of.map(book => book.seriesId))],
    bookIds: of.map(book => book.id),
  })
  for (const [name, of] of [
    ['Everything', books],
    ['Unseen group', hidden],
  ] as const) {
    const { seriesIds, bookIds } = idsOf([...of])
    await admin.post('/collections', { name, ordered: true, seriesIds })
    await admin.post('/readlists', { name, ordered: true, bookIds })
  }
  const condition = { readStatus: { operator: 'is', value: 'unread' } }
  await admin.post('/collections', { name: 'Unread', condition })
}

type Client = Awaited<ReturnType<Awaited<ReturnType<typeof startApi>>['createUser']>>

const report = pdfOf([
  '<</Type/Catalog/Pages 2 0 R>>',
  '<</Type/Pages/Count 1/Kids[3 0 R]>>',
  '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
  stream('', '0 0 1 rg 20 20 100 100 re f'),
])
const novel = epubBytes({
  manifest:
    '<item id="c1" href="text/one.xhtml" media-type="application/xhtml+xml"/><item id="s" href="style.css" media-type="text/css"/>',
  spine: '<itemref idref="c1"/>',
  files: {
    'OPS/text/one.xhtml':
      '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>One</title></head><body><p>Once.</p></body></html>',
    'OPS/style.css': 'p { margin: 0 }',
  },
})
const twin = comic({ pages: 2, padding: 100 })

/** Returns a function that returns existing values of a path parameter, by the segments in front of it. */
async function parameterValues(sql: Sql) {
  const read = async (query: Promise<readonly { id: unknown }[]>) =>
    (await query).map(row => String(row.id))
  const values: Record<string, string[]> = {
    libraries: await read(sql`select id from library order by id`),
    series: await read(sql`select id from series order by id`),
    books: await read(sql`select id from book order by id`),
    users: await read(sql`select id from account where username like 'spare%' order by id`),
    'api-keys': await read(
      sql`select k.id from api_key k join account a on a.id = k.account_id where a.username like 'spare%' order by k.id`,
    ),
    'sharing-tags': await read(sql`select id from sharing_tag order by id`),
    genres: await read(sql`select id from label where kind = 'genre' order by id`),
    tags: await read(sql`select id from label where kind = 'tag' order by id`),
    duplicates: await read(sql`select id from duplicate_group where kind = 'book' order by id`),
    'duplicates/series': await read(
      sql`select id from duplicate_group where kind <> 'book' order by id`,
    ),
    covers: await read(sql`select id from cover order by id`),
    collections: await read(sql`select id from collection order by id`),
    readlists: await read(sql`select id from read_list order by id`),
    'external-ids': await read(sql`select id from external_reference where kind = 'id'`),
    'external-links': await read(sql`select id from external_reference where kind = 'link'`),
    'external-ratings': ['critics'],
    'alternate-titles': await read(
      sql`select t->>'id' as id from series, jsonb_array_elements(alternate_titles) t`,
    ),
    annotations: await read(sql`select id from annotation`),
    'filter-presets': await read(sql`select id from filter_preset`),
    sources: await read(sql`select id from source order by id`),
    plugins: await read(sql`select id from source where type = 'plugin'`),
    releases: await read(sql`select id from release order by id`),
    'release-sources': await read(sql`select id from release_source order by id`),
    aliases: await read(sql`select id from series_alias order by id`),
    settings: ['auth.registration_enabled', 'application.name', 'no.such.setting'],
    preferences: ['ui.theme', 'reader.page_fit'],
    pages: ['1', '2', '3', '0', '99'],
    file: ['book.cbz', 'ü & "x".epub'],
    resource: ['OPS/text/one.xhtml', 'OPS/style.css', 'mimetype'],
  }
  return (path: string, name: string) => {
    const segments = path
      .slice(0, path.indexOf(`{${name}}`))
      .split('/')
      .filter(Boolean)
    return values[segments.slice(-2).join('/')] ?? values[segments.at(-1)!] ?? []
  }
}
