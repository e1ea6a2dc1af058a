// What a scan states of series: their status by the count of their books, and when they got books later.
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
    return body.map(({ title }: { title: string }) => title)
  }
  const grown = 'recently-updated?grown=true'
  t.same(await titles(grown), ['Latest'])
  shelf.write('New/1.cbz', comic({ pages: 2 }))
  shelf.write('Plain/2.cbz', comic({ pages: 3 }))
  await shelf.scan()
  t.same(await titles(grown), ['Plain', 'Latest'])
  t.same(await titles(`${grown}&limit=1`), ['Plain'])
  t.equal((await titles('recently-added'))[0], 'New')
  const { body } = await admin.get(`/libraries/${shelf.id}/series/${grown}&page=1`)
  t.equal(body.total, 2)
})
