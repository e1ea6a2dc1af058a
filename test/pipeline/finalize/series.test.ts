// Series after a scan: status by the number of books, and the time of later books.
import t from 'tap'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const info = (content: string) =>
  comic({ info: `<?xml version="1.0"?><ComicInfo>${content}</ComicInfo>` })
const shelf = await createTestLibrary(t, all, {
  'Plain/1.cbz': comic(),
  'Begun/1.cbz': info('<Number>1</Number><Count>3</Count>'),
  'Latest/12.cbz': info('<Number>12</Number><Count>12</Count>'),
  'Volumes/A.cbz': info('<Count>2</Count>'),
  'Volumes/B.cbz': comic(),
  'Stated/1.cbz': info('<Number>1</Number><Count>1</Count>'),
  'Stated/series.json': Buffer.from(JSON.stringify({ metadata: { status: 'Continuing' } })),
})
await shelf.scan()

async function statuses() {
  const { body } = await admin.get('/series/full?pageSize=50')
  return Object.fromEntries(body.data.map((one: any) => [one.title, one.metadata.status]))
}

t.test('a series is ended when its books reach their count, and unknown otherwise', async t => {
  const expected = {
    Plain: 'unknown',
    Begun: 'unknown',
    Latest: 'ended',
    Volumes: 'ended',
    Stated: 'ongoing',
  }
  t.same(await statuses(), expected)
  const { seriesId } = await shelf.book('12.cbz')
  t.match((await admin.delete(`/series/${seriesId}/metadata`)).body, { status: 'ended' })
  shelf.write('Latest/13.cbz', info('<Number>13</Number><Count>14</Count>'))
  await shelf.scan()
  t.same(await statuses(), { ...expected, Latest: 'unknown' })
  await admin.patch(`/series/${seriesId}/metadata`, { status: 'hiatus' })
  shelf.write('Latest/14.cbz', info('<Number>14</Number><Count>14</Count>'))
  await shelf.scan()
  t.same(await statuses(), { ...expected, Latest: 'hiatus' })
})

t.test('series that got books later are not those that were added', async t => {
  const titles = async (query: string) => {
    const { body } = await admin.get(`/series/${query}`)
    return body.data.map(({ title }: { title: string }) => title)
  }
  const grown = 'recently-updated?grown=true'
  t.same(await titles(grown), ['Latest'])
  shelf.write('New/1.cbz', comic({ pages: 2 }))
  shelf.write('Plain/2.cbz', comic({ pages: 3 }))
  await shelf.scan()
  t.same(await titles(grown), ['Plain', 'Latest'])
  for (const [page, expected] of [['Plain'], ['Latest'], []].entries())
    t.same(await titles(`${grown}&pageSize=1&page=${page + 1}`), expected)
  t.equal((await titles('recently-added'))[0], 'New')
  const { body } = await admin.get(`/libraries/${shelf.id}/series/${grown}&page=1`)
  t.equal(body.total, 2)
})

t.test('among equal votes of books the source of the higher priority wins', async t => {
  const opf = (publisher: string) =>
    Buffer.from(`<package><metadata><publisher>${publisher}</publisher></metadata></package>`)
  shelf.write('Tie/1.cbz', info('<Publisher>Zed</Publisher>'))
  shelf.write('Tie/2.cbz', comic({ pages: 4 }))
  shelf.write('Tie/2.opf', opf('Able'))
  await shelf.scan()
  const publisher = async () => {
    const { seriesId } = (await shelf.books()).find(({ series }) => series === 'Tie')!
    return (await admin.get(`/series/${seriesId}/metadata`)).body.publisher
  }
  t.equal(await publisher(), 'Zed', 'ComicInfo before an OPF file')
  shelf.write('Tie/3.cbz', comic({ pages: 5 }))
  shelf.write('Tie/3.opf', opf('Able'))
  await shelf.scan()
  t.equal(await publisher(), 'Able', 'the majority before the source')
  shelf.write('Tie/1.cbz', info('<Publisher>Able</Publisher>'))
  const { id } = await shelf.book('3.cbz')
  await admin.patch(`/books/${id}/metadata`, { publisher: 'Yes' })
  shelf.remove('Tie/2.cbz')
  await shelf.scan({ options: { confirmMissing: true } })
  t.equal(await publisher(), 'Yes', 'an edit of a book before its file')
})
