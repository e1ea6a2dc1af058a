// Names of people, publishers, genres and tags: each has as many series as its filter lists, for every account.
import t from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

type User = Awaited<ReturnType<typeof all.createUser>>
type Row = { name: string; seriesCount: number }

const info = (parts: Record<string, string>) =>
  comic({
    pages: 1,
    info: `<ComicInfo>${Object.entries(parts)
      .map(([name, value]) => `<${name}>${value}</${name}>`)
      .join('')}</ComicInfo>`,
  })

const all = await startApi(t)
const shelf = await createTestLibrary(t, all, {
  'One/1.cbz': info({ Writer: 'Ana Author', Inker: 'Ben Ink', Publisher: 'Acme', Genre: 'Drama' }),
  'One/2.cbz': info({ Writer: 'ANA AUTHOR, Cy Other', Publisher: 'Acme', Tags: 'sea' }),
  'Two/1.cbz': info({ Writer: 'Ana Author', Publisher: 'acme', Genre: 'drama, Épique' }),
  'Three/1.cbz': info({ Inker: 'Ana Author', Publisher: 'Zenith', Genre: 'Drama' }),
  'Shut/1.cbz': info({ Writer: 'Secret Pen', Publisher: 'Secret Press', Genre: 'secrets' }),
})
await shelf.scan()
const [admin, reader, child] = await Promise.all([
  all.createUser('admin'),
  all.createUser('reader'),
  all.createUser('reader'),
])
const { data } = (await admin.get('/series')).body as { data: { id: string; title: string }[] }
const idOf = (title: string) => data.find(series => series.title === title)!.id
await hideSeries(all.sql, reader.id, [idOf('Shut')])
await hideSeries(all.sql, child.id, [idOf('Shut')])
await all.sql`update account set age_limit = 12 where id = ${child.id}`
const second = (await shelf.books()).find(
  ({ folder, name }) => folder === 'One' && name === '2.cbz',
)!
await admin.patch(`/books/${second.id}/metadata`, { ageRating: 18 })

const names = async (user: User, path: string) =>
  ((await user.get(path)).body.data as Row[]).map(({ name, seriesCount }) => [name, seriesCount])
const lists = { authors: 'author', publishers: 'publisher', genres: 'genre', tags: 'tag' } as const

t.test('people, publishers and genres by name, each once', async t => {
  t.same(await names(admin, '/authors'), [
    ['Ana Author', 3],
    ['Ben Ink', 1],
    ['Cy Other', 1],
    ['Secret Pen', 1],
  ])
  t.same(await names(admin, '/publishers'), [
    ['Acme', 2],
    ['Secret Press', 1],
    ['Zenith', 1],
  ])
  t.same(await names(admin, '/genres'), [
    ['Drama', 3],
    ['Épique', 1],
    ['secrets', 1],
  ])
})

t.test('hidden series are neither counted nor named', async t => {
  t.same(await names(reader, '/authors'), [
    ['Ana Author', 3],
    ['Ben Ink', 1],
    ['Cy Other', 1],
  ])
  t.same(await names(reader, '/publishers?search=secret'), [])
  // This account sees only the first book of the series One.
  t.same(await names(child, '/authors'), [
    ['Ana Author', 3],
    ['Ben Ink', 1],
  ])
})

t.test('a filter by the name lists as many series', async t => {
  for (const user of [admin, reader, child])
    for (const [list, field] of Object.entries(lists))
      for (const [value, count] of await names(user, `/${list}`)) {
        const condition = { [field]: { operator: 'is', value } }
        const { body } = await user.post('/series/list', { condition })
        t.equal(body.total, count, `${list} ${value}`)
      }
})

t.test('people by role', async t => {
  t.same((await reader.get('/authors/roles')).body, { roles: ['inker', 'writer'] })
  t.same(await names(reader, '/authors?role=inker'), [
    ['Ana Author', 1],
    ['Ben Ink', 1],
  ])
  t.same(await names(reader, '/authors?role=editor'), [])
})

t.test('search, orders and pages', async t => {
  t.same(await names(admin, '/genres?search=EPI'), [['Épique', 1]])
  t.same(await names(admin, '/authors?sort=name,desc&pageSize=2'), [
    ['Secret Pen', 1],
    ['Cy Other', 1],
  ])
  t.same(await names(admin, '/authors?sort=series_count,desc&pageSize=2'), [
    ['Ana Author', 3],
    ['Ben Ink', 1],
  ])
  t.same(await names(admin, '/authors?sort=seriesCount,asc&page=2&pageSize=3'), [['Ana Author', 3]])
  const { body } = await admin.get('/authors?search=e&pageSize=1&page=9')
  t.match(body, { data: [], total: 3, totalPages: 3 })
})

t.test('changes are noticed at once, and unused genres can be left out', async t => {
  await admin.put(`/series/${idOf('Two')}/genres`, { genres: ['Drama'] })
  await admin.patch(`/series/${idOf('Two')}/metadata`, { publisher: 'Zenith' })
  t.same(await names(admin, '/genres?search=epi'), [['Épique', 0]])
  t.same(await names(admin, '/genres?search=epi&used=true'), [])
  t.same(await names(reader, '/genres?search=epi'), [])
  t.same(await names(reader, '/publishers'), [
    ['Acme', 1],
    ['Zenith', 2],
  ])
})
