// A little world that every operation finds something in: libraries, series seen and hidden, books
// of several formats, accounts, keys, tags; and the ids that a path parameter may take.
import type { Test } from 'tap'
import { epubBytes } from '../format/epub/epub-files.ts'
import { pdfOf, stream } from '../format/pdf/pdf-files.ts'
import { comic, shelve } from './library.ts'
import { type Served, serve } from './server.ts'

export type World = Awaited<ReturnType<typeof world>>

const info = (series: string, number: number, more = '') =>
  `<?xml version="1.0"?><ComicInfo><Series>${series}</Series><Number>${number}</Number><Genre>Action, Drama</Genre><Tags>robots, space</Tags><Writer>Ana Author</Writer>${more}</ComicInfo>`

/** `libraries` of them, each with the same four series; `Hidden` carries the sharing tag `secret`. */
export async function world(
  t: Test,
  { libraries = 1, settings = {} }: { libraries?: number; settings?: Record<string, unknown> } = {},
) {
  const all = await serve(t, settings)
  const shelves = []
  for (let i = 0; i < libraries; i++) {
    const shelf = await shelve(t, all, {
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
    await shelf.scan()
    shelves.push(shelf)
  }
  await all.dedupe()
  const { sql } = all
  const admin = await all.as('admin')
  // Whose accounts and keys may be changed and deleted without shutting the callers out.
  for (let i = 0; i < 5; i++) await all.as('reader', { username: `spare-${i}` })
  const tag = await admin.post('/admin/sharing-tags', { name: 'secret' })
  const hidden = await sql<{ id: string }[]>`select id from series where name = 'Hidden'`
  for (const { id } of hidden)
    await admin.post(`/series/${id}/sharing-tags`, { sharingTagId: tag.body.id })
  return { ...all, admin, shelves, secretTag: tag.body.id as string, ids: await idsOf(all) }
}

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

/** Values of path parameters by what stands before them in the path. */
export async function idsOf({ sql }: Pick<Served, 'sql'>) {
  const of = async (query: Promise<readonly { id: unknown }[]>) =>
    (await query).map(row => String(row.id))
  const known: Record<string, string[]> = {
    libraries: await of(sql`select id from library order by id`),
    series: await of(sql`select id from series order by id`),
    books: await of(sql`select id from book order by id`),
    users: await of(sql`select id from account where username like 'spare%' order by id`),
    'api-keys': await of(
      sql`select k.id from api_key k join account a on a.id = k.account_id where a.username like 'spare%' order by k.id`,
    ),
    'sharing-tags': await of(sql`select id from sharing_tag order by id`),
    genres: await of(sql`select id from label where kind = 'genre' order by id`),
    tags: await of(sql`select id from label where kind = 'tag' order by id`),
    duplicates: await of(sql`select id from duplicate_group where kind = 'book' order by id`),
    'duplicates/series': await of(
      sql`select id from duplicate_group where kind <> 'book' order by id`,
    ),
    covers: await of(sql`select id from cover order by id`),
    'external-ids': await of(
      sql`select id from series_external_id union all select id from book_external_id`,
    ),
    'external-links': await of(sql`select id from series_link union all select id from book_link`),
    settings: ['auth.registration_enabled', 'application.name', 'no.such.setting'],
    preferences: ['ui.theme', 'reader.page_fit'],
    pages: ['1', '2', '3', '0', '99'],
    file: ['book.cbz', 'ü & "x".epub'],
    resource: ['OPS/text/one.xhtml', 'OPS/style.css', 'mimetype'],
  }
  return (path: string, name: string) => {
    const words = path
      .slice(0, path.indexOf(`{${name}}`))
      .split('/')
      .filter(Boolean)
    return known[words.slice(-2).join('/')] ?? known[words.at(-1)!] ?? []
  }
}
