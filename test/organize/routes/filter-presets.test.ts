// Filter presets: own rows, checked conditions, unique names, hidden libraries, OPDS shelves.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

test('filter presets', async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic(),
    'Beta/1.cbz': comic(),
  })
  await library.scan()
  const admin = await all.createUser('admin')
  const reader = await all.createUser('reader')
  const titled = (value: string) => ({ title: { operator: 'beginsWith', value } })
  const series = { name: 'With B', scope: 'list', target: 'series', condition: titled('b') }
  const books = { ...series, target: 'books', condition: titled('1'), sort: 'title,desc' }

  t.test('a preset is saved, listed and replaced', async t => {
    const { status, body } = await reader.post('/filter-presets', series)
    t.equal(status, 201)
    t.match(body, { ...series, query: null, sort: null, libraryId: null })
    t.same((await reader.get(`/filter-presets/${body.id}`)).body, body)
    t.equal((await reader.post('/filter-presets', { ...series, name: 'with b' })).status, 409)
    const other = await reader.post('/filter-presets', { ...books, libraryId: library.id })
    t.equal(other.status, 201, 'the same name for another target')
    const { presets } = (await reader.get('/filter-presets')).body
    t.equal(presets.length, 2)
    t.same((await reader.get('/filter-presets?target=books')).body.presets, [other.body])
    t.same((await reader.get(`/filter-presets?libraryId=${newId()}`)).body.presets, [body])
    const replaced = await reader.put(`/filter-presets/${body.id}`, { ...body, query: 'beta' })
    t.match(replaced.body, { ...series, query: 'beta', id: body.id })
    const cleared = await reader.put(`/filter-presets/${body.id}`, { name: 'All' })
    t.match(cleared.body, { name: 'All', condition: null, query: null, target: 'series' })
    await reader.put(`/filter-presets/${body.id}`, body)
    t.equal((await admin.get(`/filter-presets/${body.id}`)).status, 404)
    t.equal((await admin.delete(`/filter-presets/${body.id}`)).status, 404)
    t.same((await admin.get('/filter-presets')).body.presets, [])
  })

  t.test('what cannot be used is refused', async t => {
    const bad = [
      { ...series, condition: { isbn: { operator: 'isNull' } } },
      { ...books, condition: { publisher: { operator: 'is', value: 'x' } } },
      { ...series, condition: { sharingTag: { operator: 'is', value: 'x' } } },
      { ...series, name: ' ' },
      { ...series, scope: 'other' },
      {
        ...series,
        condition: {
          allOf: Array.from({ length: 400 }, () => titled('x'.repeat(500))),
        },
      },
    ]
    for (const body of bad) t.equal((await reader.post('/filter-presets', body)).status, 400)
    const unknown = { ...series, name: 'x', libraryId: newId() }
    t.equal((await reader.post('/filter-presets', unknown)).status, 404)
    const tagged = { ...series, condition: { sharingTag: { operator: 'isNull' } } }
    t.equal((await admin.post('/filter-presets', tagged)).status, 201)
  })

  t.test('the OPDS catalogs have a shelf for each', async t => {
    const list = (await reader.get('/opds/v2/presets')).body.navigation
    t.same(
      list.map((link: { title: string }) => link.title),
      ['With B', 'With B'],
    )
    const feeds = await Promise.all(
      list.map(async (link: { href: string }) => {
        const path = new URL(link.href, all.base).pathname
        return (await reader.get(path)).body
      }),
    )
    const found = feeds.flatMap(({ navigation = [], publications = [] }) => [
      ...navigation.map((one: { title: string }) => one.title),
      ...publications.map((one: { metadata: { title: string } }) => one.metadata.title),
    ])
    t.same(found.sort(), ['Alpha - 1', 'Beta', 'Beta - 1'])
    t.equal((await admin.get(new URL(list[0].href, all.base).pathname)).status, 404)
  })

  t.test('a preset of a library goes with it, and is hidden with it', async t => {
    await admin.put(`/users/${reader.id}`, { libraryIds: [] })
    t.equal((await reader.get('/filter-presets')).body.presets.length, 1)
    await admin.put(`/users/${reader.id}`, { allLibraries: true })
    const [preset] = (await reader.get('/filter-presets?target=series')).body.presets
    t.equal((await reader.delete(`/filter-presets/${preset.id}`)).status, 204)
    t.equal((await reader.delete(`/filter-presets/${preset.id}`)).status, 404)
  })
})
