// Labels of hidden series: a restricted account receives the same answers about a genre or tag that only hidden
// series have as about one that does not exist, before and after assigning it.
import { test } from 'tap'
import { labelKinds } from '../../lib/catalog/label/label.ts'
import { comic, createTestLibrary } from '../kit/library.ts'
import { startApi } from '../kit/server.ts'

const info = (labels: string) =>
  comic({ info: `<ComicInfo><Genre>${labels}</Genre><Tags>${labels}</Tags></ComicInfo>` })

test('labels of hidden series are not revealed', async t => {
  const all = await startApi(t)
  const { sql } = all
  const admin = await all.createUser('admin')
  const [reader, maintainer] = [await all.createUser('reader'), await all.createUser('maintainer')]
  const shelf = await createTestLibrary(t, all, { 'Shut/1.cbz': info('NOTED, TEA') })
  await shelf.scan()
  shelf.write('Open/1.cbz', info('tea'))
  await shelf.scan()
  const { data } = (await admin.get('/series')).body as { data: { id: string; title: string }[] }
  const idOf = (title: string) => data.find(series => series.title === title)!.id
  const open = `/series/${idOf('Open')}`
  const sharingTagId = (await admin.post('/admin/sharing-tags', { name: 'secret' })).body.id
  await admin.post(`/series/${idOf('Shut')}/sharing-tags`, { sharingTagId })
  for (const { id } of [reader, maintainer])
    await admin.put(`/users/${id}/sharing-tags`, { sharingTagId, accessMode: 'deny' })
  const [book] = (await shelf.books()).filter(({ folder }) => folder === 'Open')

  const owners = [open, `/books/${book!.id}`]
  const assign = async (kind: 'genre' | 'tag', name: string) => {
    const bodies: any[] = []
    for (const owner of owners)
      bodies.push((await maintainer.post(`${owner}/${kind}s`, { name })).body)
    return bodies
  }
  const unassign = async (kind: 'genre' | 'tag', id: string) => {
    const statuses: number[] = []
    for (const owner of owners)
      statuses.push((await maintainer.delete(`${owner}/${kind}s/${id}`)).status)
    return statuses
  }

  /** What both accounts receive, with the word and the id of its label replaced. */
  const answers = async (kind: 'genre' | 'tag', word: string) => {
    const path = `/${kind}s`
    const found: unknown[] = []
    const read = async () => {
      for (const viewer of [reader, maintainer]) {
        for (const one of [path, open, `${open}/full`, `${open}${path}`, `${open}/metadata`])
          found.push((await viewer.get(one)).body)
        for (const list of ['/series/list', '/books/list'])
          for (const operator of ['is', 'isNot', 'contains'])
            found.push(
              (await viewer.post(list, { condition: { [kind]: { operator, value: word } } })).body,
            )
        const feed = await fetch(`${all.base}/opds/v1${path}`, {
          headers: { 'x-api-key': viewer.key },
        })
        found.push((await feed.text()).replace(/<(?:updated|id)>[^<]*/g, ''))
      }
    }
    await read()
    const assigned = await assign(kind, word)
    found.push(...assigned)
    await read()
    const { id } = assigned[0]
    found.push(...(await unassign(kind, id)))
    await read()
    // Times at which the series was changed follow from the requests.
    const text = JSON.stringify(found).replaceAll(/"updatedAt":"[^"]*"|"etag":"[^"]*"/g, '"at":0')
    return JSON.parse(text.replaceAll(word, 'word').replaceAll(id, 'id')) as unknown[]
  }
  for (const kind of labelKinds) {
    // The first change locks the labels.
    await unassign(kind, (await assign(kind, 'first'))[0].id)
    const [noted, fresh] = [await answers(kind, 'noted'), await answers(kind, 'fresh')]
    t.ok(noted.length > 60)
    t.same(noted, fresh)
    t.notMatch(JSON.stringify(noted), /NOTED|TEA/)
  }
  const [{ created }] = await sql<[{ created: Date }]>`
    select created_at as created from series where id = ${idOf('Open')}`
  for (const { key } of [reader, maintainer]) {
    const headers = { 'x-api-key': key }
    const labels = (await (await fetch(`${all.base}/api/v1/genres`, { headers })).json()) as {
      data: object[]
    }
    t.match(labels.data, [{ name: 'tea', seriesCount: 1, createdAt: created.toISOString() }])
  }
  t.match((await admin.get('/genres')).body.data, [
    { name: 'first' },
    { name: 'fresh' },
    { name: 'NOTED' },
    { name: 'TEA' },
  ])
})
