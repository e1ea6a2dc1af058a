// Pages of lists and the links between them.
import { test } from 'tap'
import { newId } from '../../lib/base/id.ts'
import { comic, createTestLibrary } from '../kit/library.ts'
import { startApi } from '../kit/server.ts'

test('a page links to the others of its list', async t => {
  const all = await startApi(t)
  const reader = await all.createUser('reader')
  const files = [1, 2, 3, 4, 5].map(i => [`A/${i}.cbz`, comic({ pages: 1 })])
  const shelf = await createTestLibrary(t, all, Object.fromEntries(files))
  await shelf.scan()
  const library = shelf.id
  const list = async (query: string) => {
    const { body, headers } = await reader.get(`/books?${query}`)
    const { data, links, page, total, totalPages } = body
    return { page, total, totalPages, count: data.length, links, header: headers.get('link') }
  }
  const common = `libraryId=${library}&sort=title%2Cdesc`
  const url = (page: number, pageSize = 2) =>
    `/api/v1/books?${new URLSearchParams({ libraryId: library, sort: 'title,desc', page: `${page}`, pageSize: `${pageSize}` })}`
  const cases: [page: number, count: number, prev: number | null, next: number | null][] = [
    [1, 2, null, 2],
    [2, 2, 1, 3],
    [3, 1, 2, null],
    [4, 0, 3, null],
    [9, 0, 3, null],
  ]
  const parts = (address: string | null) =>
    address && [...new URL(address, all.base).searchParams].sort()
  for (const [page, count, prev, next] of cases) {
    const found = await list(`${common}&page=${page}&pageSize=2`)
    t.match(found, { page, count, total: 5, totalPages: 3 }, `page ${page}`)
    const expected = { self: page, first: 1, prev, next, last: 3 }
    for (const [rel, target] of Object.entries(expected)) {
      const link = found.links[rel]
      t.same(parts(link), target === null ? null : parts(url(target)), `${rel} of ${page}`)
      if (link) t.match(found.header, `<${link}>; rel="${rel}"`)
      else t.notMatch(found.header, `rel="${rel}"`)
    }
  }
  const whole = await list(`${common}&pageSize=5`)
  t.match(whole, { count: 5, totalPages: 1, links: { prev: null, next: null } }, 'exactly one page')
  const none = await list(`seriesId=${newId()}&pageSize=5`)
  t.match(none, { count: 0, total: 0, totalPages: 0, links: { prev: null, next: null } })
  t.equal(new URL(none.links.last, all.base).searchParams.get('page'), '1')
  const { links } = await list(`${common}&pageSize=2&full=true`)
  t.equal(new URL(links.next, all.base).searchParams.get('full'), 'true', 'as long as this one')
  t.notOk(
    new URL((await list(`${common}&pageSize=2`)).links.next, all.base).searchParams.has('full'),
  )
})
