// Paths of all OPDS feeds, with first, middle and last pages of the long ones.
import type { Sql } from '../../lib/store/postgres/db.ts'

export type Timed = { name: string; path: string }

/** `get` fetches a feed as the viewer whose feeds these are to be. */
export async function feedsOf(sql: Sql, get: (path: string) => Promise<string>): Promise<Timed[]> {
  const feeds: Timed[] = []
  const paths = await feedPaths(sql)
  for (const [name, path] of Object.entries(paths)) {
    for (const version of [1, 2]) {
      if (version === 1 && name.startsWith('v2')) continue
      if (version === 2 && name.startsWith('v1')) continue
      const at = `/opds/v${version}${path === '' && version === 1 ? '/catalog' : path}`
      feeds.push({ name: `${name} ${version}`, path: at })
      // The lists are the same in both; the pages of one are enough.
      if (version === 1 || !name.startsWith('v2')) feeds.push(...(await farther(name, at, get)))
    }
  }
  return feeds
}

async function farther(name: string, path: string, get: (path: string) => Promise<string>) {
  if (!path.startsWith('/opds/v2')) return []
  const { metadata } = JSON.parse(await get(path))
  const last = Math.ceil((metadata.numberOfItems ?? 0) / 50)
  const pages = [...new Set([Math.ceil(last / 2), last])].filter(page => page > 2)
  const to = path.includes('?') ? '&' : '?'
  return pages.map(page => ({ name: `${name} page ${page}`, path: `${path}${to}page=${page}` }))
}

async function feedPaths(sql: Sql): Promise<Record<string, string>> {
  const one = async <T>(query: Promise<readonly T[]>) => (await query)[0]!
  const [library] = await sql<{ id: string }[]>`select id from library order by name limit 1`
  const big = await one(sql<{ id: string }[]>`
    select id from series where library_id = ${library!.id} and age_rating is null
    order by book_count desc limit 1`)
  const usual = await one(sql<{ id: string; title: string }[]>`
    select id, title from series
    where library_id = ${library!.id} and book_count = 25 and age_rating is null and title like '% % %'
    order by id desc limit 1`)
  const publisher = await one(sql<{ name: string }[]>`
    select publisher as name from series where publisher is not null
    group by 1 order by count(*) desc limit 1`)
  const label = (kind: string) =>
    one(sql<{ name: string }[]>`
      select l.name from label l join series_label y on y.label_id = l.id
      where l.kind = ${kind} group by l.id order by count(*) desc limit 1`)
  const encode = encodeURIComponent
  const word = usual.title.split(' ')[1]!
  const [genre, tag] = [await label('genre'), await label('tag')]
  return {
    root: '',
    'keep reading': '/keep-reading',
    'on deck': '/on-deck',
    'new books': '/books/recent',
    releases: '/books/released',
    'all series': '/series',
    'new series': '/series/recent',
    'updated series': '/series/updated',
    'series, many books': `/series/${big.id}`,
    'series, facets': `/series/${usual.id}?read=unread&sort=title`,
    'series, by tag': `/series/${big.id}?tag=${encode(tag.name)}`,
    libraries: '/libraries',
    library: `/libraries/${library!.id}`,
    'v2 browse': `/libraries/${library!.id}/browse`,
    publishers: '/publishers',
    genres: '/genres',
    tags: '/tags',
    'of a publisher': `/series?publisher=${encode(publisher.name)}`,
    'of a genre': `/series?genre=${encode(genre.name)}`,
    'of a tag': `/series?tag=${encode(tag.name)}`,
    'series search': `/series?search=${encode(word)}`,
    'v1 search': `/search?q=${encode(usual.title)}`,
    'v2 search': `/search?query=${encode(word)}`,
    'v1 search, common': '/search?q=the',
    'keep reading in library': `/keep-reading?libraryId=${library!.id}`,
    'on deck in library': `/on-deck?libraryId=${library!.id}`,
    'new books in library': `/books/recent?libraryId=${library!.id}`,
    'releases in library': `/books/released?libraryId=${library!.id}`,
    'new series in library': `/series/recent?libraryId=${library!.id}`,
  }
}
