import t from 'tap'
import { newId } from '../../../lib/id.ts'
import { comic, shelve } from '../../kit/library.ts'
import { serve } from '../../kit/server.ts'

const all = await serve(t)
const admin = await all.as('admin')
const reader = await all.as('reader')
const shelf = await shelve(t, all, { 'Akira/1.cbz': comic() })
await shelf.scan()
const { id, seriesId } = await shelf.book('1.cbz')

for (const [at, owner] of [
  [`/series/${seriesId}`, { seriesId }],
  [`/books/${id}`, { bookId: id }],
] as const) {
  t.test(`ids of ${at.split('/')[1]} are one a source`, async t => {
    t.same((await reader.get(`${at}/external-ids`)).body, { externalIds: [] })
    const first = await admin.post(`${at}/external-ids`, {
      source: 'plugin:x',
      external_id: '1',
      externalUrl: 'https://example.org/1',
    })
    t.equal(first.status, 200)
    t.match(first.body, { ...owner, source: 'plugin:x', externalId: '1', metadataHash: null })
    const second = await admin.post(`${at}/external-ids`, { source: 'plugin:x', externalId: '2' })
    t.match(second.body, { id: first.body.id, externalId: '2', externalUrl: null })
    await admin.post(`${at}/external-ids`, { source: 'a', externalId: '3' })
    const { externalIds } = (await reader.get(`${at}/external-ids`)).body
    t.same(
      externalIds.map((x: { source: string }) => x.source),
      ['a', 'plugin:x'],
    )
    t.same(externalIds[1], second.body)
    t.equal((await admin.delete(`${at}/external-ids/${first.body.id}`)).status, 204)
    t.equal((await admin.delete(`${at}/external-ids/${first.body.id}`)).status, 404)
    t.equal((await reader.get(`${at}/external-ids`)).body.externalIds.length, 1)
  })

  t.test(`ids of ${at.split('/')[1]} that cannot be are refused`, async t => {
    for (const wrong of [
      { source: 'x' },
      { source: ' ', externalId: '1' },
      { source: 'x', externalId: '' },
      { source: 'x', externalId: '1', externalUrl: 'javascript:alert(1)' },
      { source: 'x', externalId: 'a\u0000' },
    ])
      t.equal((await admin.post(`${at}/external-ids`, wrong)).status, 400)
    const given = { source: 'x', externalId: '1' }
    t.equal((await reader.post(`${at}/external-ids`, given)).status, 403)
    const nowhere = at.replace(/[^/]+$/, newId())
    t.equal((await admin.post(`${nowhere}/external-ids`, given)).status, 404)
    t.equal((await admin.get(`${nowhere}/external-ids`)).status, 404)
    t.equal((await admin.delete(`${nowhere}/external-ids/${newId()}`)).status, 404)
  })
}

t.test('an id that a user set is not what a scan says again', async t => {
  const told = await shelve(t, all, {
    'Told/1.cbz': comic(),
    'Told/series.json': Buffer.from(
      JSON.stringify({ metadata: { type: 'comicSeries', name: 'Told', comicid: 4711 } }),
    ),
  })
  await told.scan()
  const at = `/series/${(await told.book('1.cbz')).seriesId}/external-ids`
  const [known] = (await admin.get(at)).body.externalIds
  t.ok(known, 'the file tells one')
  await admin.post(at, { source: known.source, externalId: 'mine' })
  await told.scan({ mode: 'deep' })
  t.match((await admin.get(at)).body.externalIds, [{ id: known.id, externalId: 'mine' }])
})
