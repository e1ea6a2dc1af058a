// Sharing tags over HTTP.
import t from 'tap'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const missing = '00000000-0000-7000-8000-000000000000'

t.test('tags are created, renamed, assigned to series and users, and deleted', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const ana = await all.createUser('reader')
  const shelf = await createTestLibrary(t, all, { 'Akira/1.cbz': comic() })
  await shelf.scan()
  const [series] = await all.sql<{ id: string }[]>`select id from series`
  const created = await admin.post('/admin/sharing-tags', {
    name: ' Kids ',
    description: 'for all',
  })
  t.match(created, {
    status: 201,
    body: { name: 'Kids', description: 'for all', seriesCount: 0, userCount: 0 },
  })
  const { id } = created.body
  t.equal((await admin.post('/admin/sharing-tags', { name: 'KIDS' })).status, 409)
  t.equal((await admin.post('/admin/sharing-tags', { name: ' ' })).status, 400)
  t.match((await admin.patch(`/admin/sharing-tags/${id}`, { description: null })).body, {
    name: 'Kids',
    description: null,
  })
  const other = (await admin.post('/admin/sharing-tags', { name: 'Gore' })).body.id

  const ofSeries = `/series/${series!.id}/sharing-tags`
  t.match(await admin.post(ofSeries, { sharingTagId: id }), {
    status: 201,
    body: { data: [{ id, name: 'Kids' }] },
  })
  t.equal((await admin.post(ofSeries, { sharingTagId: id })).status, 400)
  t.equal((await admin.post(ofSeries, { sharingTagId: missing })).status, 400)
  t.same(
    (await admin.put(ofSeries, { sharing_tag_ids: [other, id, id] })).body.data.map(
      (tag: { name: string }) => tag.name,
    ),
    ['Gore', 'Kids'],
  )
  t.equal((await admin.delete(`${ofSeries}/${other}`)).status, 204)
  t.equal((await admin.delete(`${ofSeries}/${other}`)).status, 404)
  t.match((await admin.get(ofSeries)).body.data, [{ id }])
  t.equal((await admin.get(`/series/${missing}/sharing-tags`)).status, 404)

  const ofAna = `/users/${ana.id}/sharing-tags`
  t.match(await admin.put(ofAna, { sharingTagId: id, accessMode: 'deny' }), {
    status: 200,
    body: { sharingTagId: id, sharingTagName: 'Kids', accessMode: 'deny' },
  })
  t.match((await admin.put(ofAna, { sharingTagId: id, accessMode: 'allow' })).body, {
    accessMode: 'allow',
  })
  t.equal((await admin.put(ofAna, { sharingTagId: missing, accessMode: 'allow' })).status, 400)
  t.match((await ana.get('/user/sharing-tags')).body.data, [
    { sharingTagName: 'Kids', accessMode: 'allow' },
  ])
  t.match((await admin.get(`/users/${ana.id}`)).body.sharingTags, [{ sharingTagId: id }])
  t.same(
    (await admin.get('/users?sharingTag=kids&sharingTagMode=allow')).body.data.map(
      (u: { id: string; username: string }) => u.id,
    ),
    [ana.id],
  )
  t.equal((await admin.get('/users?sharingTagMode=deny')).body.total, 0)
  t.match((await admin.get('/admin/sharing-tags')).body, {
    total: 2,
    data: [
      { name: 'Gore', seriesCount: 0 },
      { name: 'Kids', seriesCount: 1, userCount: 1 },
    ],
  })
  t.equal((await admin.get(`/users/${missing}/sharing-tags`)).status, 404)
  t.equal((await admin.delete(`${ofAna}/${id}`)).status, 204)
  t.equal((await admin.delete(`${ofAna}/${id}`)).status, 404)
  await admin.put(ofAna, { sharingTagId: id, accessMode: 'allow' })
  t.equal((await admin.delete(`/admin/sharing-tags/${id}`)).status, 204)
  t.same((await ana.get('/user/sharing-tags')).body.data, [])
  t.equal((await admin.get(`/admin/sharing-tags/${id}`)).status, 404)
  t.equal((await admin.delete(`/admin/sharing-tags/${id}`)).status, 404)
})

t.test('only administrators manage tags, and not on series hidden from them', async t => {
  const all = await startApi(t)
  const [admin, maintainer] = [await all.createUser('admin'), await all.createUser('maintainer')]
  for (const path of [
    '/admin/sharing-tags',
    `/users/${maintainer.id}/sharing-tags`,
    `/series/${missing}/sharing-tags`,
  ])
    t.equal((await maintainer.get(path)).status, 403)
  const shelf = await createTestLibrary(t, all, { 'Akira/1.cbz': comic() })
  await shelf.scan()
  const [series] = await all.sql<{ id: string }[]>`select id from series`
  const { id } = (await admin.post('/admin/sharing-tags', { name: 'Gore' })).body
  const path = `/series/${series!.id}/sharing-tags`
  await admin.put(path, { sharingTagIds: [id] })
  await admin.put(`/users/${admin.id}/sharing-tags`, { sharingTagId: id, accessMode: 'deny' })
  t.equal((await admin.get(path)).status, 404)
  t.equal((await admin.put(path, { sharingTagIds: [] })).status, 404)
})
