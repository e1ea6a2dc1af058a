// Lists of the compatible API through HTTP: filters of GET lists as conditions, orders, whole lists, values.
import t from 'tap'
import { enableKomga } from '../../../kit/komga.ts'
import { startApiWithoutPipeline } from '../../../kit/server.ts'
import { createEvaluator, type Tree } from '../search/evaluator.ts'
import { makeKomgaFacts, storeKomgaFacts } from '../search/facts.ts'

const all = await startApiWithoutPipeline(t)
const facts = makeKomgaFacts(21, 50)
await storeKomgaFacts(all.sql, facts)
const admin = await all.createUser('admin')
await enableKomga(admin)
const { listed, booksOf, matchesSeries, matchesBook, present } = createEvaluator(
  facts,
  admin.id,
  new Date(),
)
const [library] = facts.libraries as [string]

type Item = { id: string; metadata: { title: string } }
type Page<T = Item> = {
  content: T[]
  totalElements: number
  last: boolean
  numberOfElements: number
}

async function fetchJson<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`${all.base}/komga${path}`, {
    ...init,
    headers: { 'x-api-key': admin.key, 'content-type': 'application/json' },
  })
  if (response.status !== 200)
    throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}
const idsOf = ({ content }: Page) => content.map(item => item.id)
const post = (path: string, body: object) =>
  fetchJson<Page>(path, { method: 'POST', body: JSON.stringify(body) })

t.test('parameters of GET lists select what the same conditions select', async t => {
  const is = (key: string, ...values: unknown[]): Tree => ({
    anyOf: values.map(value => ({ [key]: { operator: 'is', value } })),
  })
  const series: [string, Tree][] = [
    [`library_id=${library}`, is('libraryId', library)],
    [
      `library_id=${facts.libraries.slice(0, 2).join(',')}`,
      is('libraryId', ...facts.libraries.slice(0, 2)),
    ],
    ['status=ended&status=HIATUS', is('seriesStatus', 'ENDED', 'HIATUS')],
    [
      'genre=action,drama&tag[]=long',
      { allOf: [is('genre', 'action', 'drama'), is('tag', 'long')] },
    ],
    ['publisher=viz&language=en', { allOf: [is('publisher', 'viz'), is('language', 'en')] }],
    ['age_rating=12,None', { anyOf: [is('ageRating', 12), { ageRating: { operator: 'isNull' } }] }],
    ['author=akira%20toriyama,writer', is('author', { name: 'akira toriyama', role: 'writer' })],
    [
      'oneshot=true&complete=false',
      { allOf: [{ oneShot: { operator: 'isTrue' } }, { complete: { operator: 'isFalse' } }] },
    ],
    ['deleted=false', { allOf: [] }],
    ['search_regex=%5En,TITLE', { title: { operator: 'beginsWith', value: 'n' } }],
    [
      `collection_id=${[...facts.collections.keys()][0]}`,
      is('collectionId', [...facts.collections.keys()][0]),
    ],
    ['unknown=1&read_status=UNREAD', is('readStatus', 'UNREAD')],
  ]
  for (const [query, tree] of series) {
    const expected = listed.filter(matchesSeries(tree, () => true)).map(s => s.id)
    const page = await fetchJson<Page>(`/api/v1/series?size=500&${query}`)
    t.same(idsOf(page).sort(), expected.sort(), query)
    const posted = await post('/api/v1/series/list?unpaged=true', { condition: tree })
    t.same(idsOf(posted).sort(), expected, query)
  }
  const owner = booksOf(listed[0]!)[0]!.series
  const [readList] = facts.readLists.keys()
  const books: [string, Tree][] = [
    [
      'books?media_status=READY&tag=long',
      { allOf: [is('mediaStatus', 'READY'), is('tag', 'long')] },
    ],
    [
      'books?released_after=1992-01-01',
      { releaseDate: { operator: 'after', dateTime: '1992-01-01T00:00:00Z' } },
    ],
    [`series/${owner.id}/books?deleted=false`, is('seriesId', owner.id)],
    [
      `readlists/${readList}/books?author=zola,x`,
      { allOf: [is('readListId', readList), is('author', { name: 'zola', role: 'x' })] },
    ],
    [`readlists/${readList}/books`, is('readListId', readList)],
  ]
  for (const [path, tree] of books) {
    const page = await fetchJson<Page>(
      `/api/v1/${path}${path.includes('?') ? '&' : '?'}unpaged=true`,
    )
    t.same(
      idsOf(page).sort(),
      present
        .filter(matchesBook(tree))
        .map(b => b.id)
        .sort(),
      path,
    )
    t.equal(page.totalElements, page.content.length)
    t.ok(page.last)
  }
})

t.test('members are listed in their own order unless the request names one', async t => {
  const [collection, seriesIds] = [...facts.collections][0]!
  const [readList, bookIds] = [...facts.readLists][0]!
  const members = async (path: string) => idsOf(await fetchJson<Page>(`/api/v1/${path}`))
  const inCollection = `collections/${collection}/series?unpaged=true`
  const inReadList = `readlists/${readList}/books?unpaged=true`
  const inOrderOf = (ids: Set<string>, found: string[]) => [...ids].filter(id => found.includes(id))
  for (const isOrdered of [true, false]) {
    await all.sql`update collection set is_ordered = ${isOrdered} where id = ${collection}`
    await all.sql`update read_list set is_ordered = ${isOrdered} where id = ${readList}`
    const byTitle = await members(`${inCollection}&sort=metadata.titleSort`)
    const byDate = await members(`${inReadList}&sort=metadata.releaseDate`)
    const [manual, read] = [inOrderOf(seriesIds, byTitle), inOrderOf(bookIds, byDate)]
    t.not(manual.join(), byTitle.join())
    t.same(await members(inCollection), isOrdered ? manual : byTitle)
    t.not(read.join(), byDate.join())
    t.same(await members(inReadList), isOrdered ? read : byDate)
  }
  const series = facts.series.find(one => booksOf(one).filter(b => !b.missing).length > 3)!
  const ofSeries = `series/${series.id}/books?unpaged=true`
  t.same(await members(ofSeries), await members(`${ofSeries}&sort=metadata.numberSort`))
  t.not(
    (await members(ofSeries)).join(),
    (await members(`${ofSeries}&sort=metadata.numberSort,desc`)).join(),
  )
})

t.test('every sort property lists everything once, from page to page', async t => {
  const series = [
    ...['metadata.titleSort', 'name', 'created', 'createdDate', 'lastModified', 'lastModifiedDate'],
    ...['booksMetadata.releaseDate', 'readDate', 'booksCount', 'collection.number', 'random'],
    ...['relevance', 'unknown', 'booksCount,metadata.titleSort,desc'],
  ]
  const books = [
    ...[
      'name',
      'series',
      'created',
      'lastModified',
      'fileLastModified',
      'fileSize',
      'fileHash',
      'url',
    ],
    ...['media.status', 'media.comment', 'media.mediaType', 'media.pagesCount', 'metadata.title'],
    ...['metadata.numberSort', 'metadata.releaseDate', 'readProgress.lastModified'],
    ...['readProgress.readDate', 'readList.number', 'relevance', 'series,metadata.numberSort,asc'],
  ]
  const lists = [
    ...series.map(sort => ({ kind: 'series', sort, expected: listed.map(s => s.id) })),
    ...books.map(sort => ({ kind: 'books', sort, expected: present.map(b => b.id) })),
  ]
  for (const { kind, sort, expected } of lists) {
    const ids: string[] = []
    for (let page = 0; ; page++) {
      const size = Math.ceil(expected.length / 2)
      const found = await post(`/api/v1/${kind}/list?sort=${sort}&page=${page}&size=${size}`, {})
      ids.push(...idsOf(found))
      if (found.last) break
    }
    t.same(ids.sort(), [...expected].sort(), `${kind} by ${sort}`)
  }
})

t.test('full-text queries: words, phrases, fields, OR and NOT', async t => {
  const count = async (kind: string, fullTextSearch: string) =>
    (await post(`/api/v1/${kind}/list`, { fullTextSearch })).totalElements
  const series = (test: (s: (typeof listed)[number]) => boolean) => listed.filter(test).length
  const has = (text: string) => (s: { title: string }) => s.title.toLowerCase().includes(text)
  t.equal(await count('series', 'title:naruto'), series(has('naruto')))
  t.equal(
    await count('series', 'title:naruto OR title:"slump"'),
    series(s => has('naruto')(s) || has('slump')(s)),
  )
  t.equal(
    await count('series', 'title:naruto NOT status:ended'),
    series(s => has('naruto')(s) && s.status !== 'ended'),
  )
  t.equal(await count('series', 'title:naruto -title:naruto'), 0)
  t.equal(await count('series', 'naruto'), await count('series', '+naruto AND naru*'))
  t.equal(await count('books', 'none:such'), 0)
  t.equal(await count('books', 'deleted:true'), facts.books.filter(b => b.missing).length)
})

t.test('conditions and patterns that are not valid are refused', async t => {
  const refused: unknown[] = [
    { title: { operator: 'is', value: 'a' }, libraryId: { operator: 'is', value: 'b' } },
    { nothing: { operator: 'is', value: 'a' } },
    { title: { operator: 'greaterThan', value: 'a' } },
    { title: { operator: 'is', value: 1 } },
    { ageRating: { operator: 'is', value: 'x' } },
    { releaseDate: { operator: 'isInTheLast', duration: '30 days' } },
    { seriesStatus: { operator: 'is', value: 'DONE' } },
    { allOf: 1 },
    { anyOf: [1] },
    JSON.parse(`${'{"allOf":['.repeat(30)}${']}'.repeat(30)}`),
    { anyOf: Array.from({ length: 6000 }, () => ({ allOf: [] })) },
  ]
  for (const condition of refused) {
    const response = await fetch(`${all.base}/komga/api/v1/series/list`, {
      method: 'POST',
      headers: { 'x-api-key': admin.key, 'content-type': 'application/json' },
      body: JSON.stringify({ condition }),
    })
    t.equal(response.status, 400, JSON.stringify(condition).slice(0, 80))
  }
  for (const pattern of ['[', 'a+', '(a|b)*', 'a'.repeat(201)]) {
    const query = `search_regex=${encodeURIComponent(`${pattern},TITLE`)}`
    const url = `${all.base}/komga/api/v1/series?${query}`
    const { status } = await fetch(url, { headers: { 'x-api-key': admin.key } })
    t.equal(status, 400, pattern.slice(0, 10))
  }
  const many = { anyOf: facts.series.map(s => ({ title: { operator: 'is', value: s.title } })) }
  t.equal((await post('/api/v1/series/list', { condition: many })).totalElements, listed.length)
})

t.test('values within libraries, series, collections and read lists', async t => {
  const [read] = facts.readLists
  const [collection] = facts.collections
  const [series] = listed
  const scopes: Record<string, (book: (typeof facts.books)[number]) => boolean> = {
    [`library_id=${library}`]: book => book.series.library === library,
    [`series_id=${series!.id}`]: book => book.series.id === series!.id,
    [`collection_id=${collection![0]}`]: book => collection![1].has(book.series.id),
    [`readlist_id=${read![0]}`]: book => read![1].has(book.id),
    [`readlist_id=${read![0]}&series_id=${series!.id}`]: book =>
      read![1].has(book.id) && book.series.id === series!.id,
  }
  for (const [scope, isWithin] of Object.entries(scopes))
    for (const role of ['writer', 'penciller']) {
      const credits = present.filter(isWithin).flatMap(book => facts.credits.get(book.id)!)
      const expected = new Set(credits.filter(c => (c.role ?? 'writer') === role).map(c => c.name))
      const found = await fetchJson<{ name: string }[]>(`/api/v1/authors?${scope}&role=${role}`)
      t.same(found.map(({ name }) => name).sort(), [...expected].sort(), `${role}, ${scope}`)
    }
})

t.test('values of visible series and books, for the caller only', async t => {
  const genres = new Set(listed.flatMap(s => s.ownGenres ?? booksOf(s).flatMap(b => b.genres)))
  const lower = [...new Set([...genres].map(genre => genre.toLowerCase()))]
  t.same((await fetchJson<string[]>('/api/v1/genres')).sort(), lower.sort())
  const page = await fetchJson<Page<string>>('/api/v2/genres?unpaged=true')
  t.same(page.content.sort(), lower)
  for (const name of [
    'tags',
    'tags/book',
    'tags/series',
    'publishers',
    'languages',
    'sharing-labels',
  ])
    t.ok((await fetchJson<string[]>(`/api/v1/${name}?library_id=${library}`)).length > 0, name)
  t.ok((await fetchJson<string[]>('/api/v1/age-ratings')).includes('None'))
  const years = await fetchJson<string[]>('/api/v1/series/release-dates')
  t.same(years, years.toSorted().reverse())
  type Author = { name: string; role: string }
  const authors = await fetchJson<Author[]>('/api/v1/authors?search=zola')
  t.ok(authors.length > 0 && authors.every(({ name }) => name === 'Émile Zola'))
  const covers = await fetchJson<Page<Author>>('/api/v2/authors?role=cover&unpaged=true')
  t.ok(covers.content.length > 0 && covers.content.every(({ role }) => role === 'cover'))
  t.ok((await fetchJson<string[]>('/api/v1/authors/roles')).includes('writer'))
  const reader = await all.createUser('reader')
  const labels = await fetch(`${all.base}/komga/api/v1/sharing-labels`, {
    headers: { 'x-api-key': reader.key },
  })
  t.same(await labels.json(), [], 'for administrators only')
})

t.test('lists by time, next books and duplicates answer before single items do', async t => {
  for (const path of ['series/new', 'series/latest'])
    t.equal((await fetchJson<Page>(`/api/v1/${path}`)).totalElements, listed.length, path)
  for (const path of ['series/updated', 'books/ondeck', 'books/duplicates'])
    t.same(Object.keys(await fetchJson<Page>(`/api/v1/${path}`)).length, 11, path)
  t.equal((await fetchJson<Page>('/api/v1/books/latest')).totalElements, present.length)
  const groups = await fetchJson<{ count: number }[]>('/api/v1/series/alphabetical-groups')
  t.equal(
    groups.reduce((sum, { count }) => sum + count, 0),
    listed.length,
  )
})
