// External ids and links of series and books over HTTP.
import t from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const shelf = await createTestLibrary(t, all, { 'Akira/1.cbz': comic() })
await shelf.scan()
const { id, seriesId } = await shelf.book('1.cbz')

const owners = [
  { kind: 'series', path: `/series/${seriesId}`, ids: { seriesId } },
  { kind: 'book', path: `/books/${id}`, ids: { bookId: id } },
]
const url = 'https://example.org/1'
const references = [
  {
    type: 'external-ids',
    listField: 'externalIds',
    source: 'source',
    first: { source: 'plugin:x', external_id: '1', externalUrl: url },
    stored: { source: 'plugin:x', externalId: '1', externalUrl: url, metadataHash: null },
    second: { source: 'plugin:x', externalId: '2' },
    replaced: { externalId: '2', externalUrl: null },
    other: { source: 'a', externalId: '3' },
    sources: ['a', 'plugin:x'],
    invalid: [
      { source: 'x' },
      { source: ' ', externalId: '1' },
      { source: 'x', externalId: '' },
      { source: 'x', externalId: '1', externalUrl: 'javascript:alert(1)' },
      { source: 'x', externalId: '1', externalUrl: 'https://ana:secret@example.org/' },
      { source: 'x', externalId: 'a\u0000' },
    ],
    isDeletedBySource: false,
  },
  {
    type: 'external-links',
    listField: 'links',
    source: 'sourceName',
    first: { source_name: 'wiki', url, externalId: '7' },
    stored: { sourceName: 'wiki', url, externalId: '7' },
    second: { sourceName: 'wiki', url: 'http://example.org/2' },
    replaced: { url: 'http://example.org/2', externalId: null },
    other: { sourceName: 'a/b shop', url },
    sources: ['a/b shop', 'wiki'],
    invalid: [
      ...['javascript:alert(1)', 'file:///etc/passwd', '//example.org', 'example', ''],
      ...['https://ana@example.org/', 'https://example.org/a\r\nX-Y: 1', 'http://exam\nple.org/'],
    ].map(url => ({ sourceName: 'x', url })),
    isDeletedBySource: true,
  },
]

for (const { kind, path, ids } of owners)
  for (const reference of references) {
    const { type, listField, source, first, stored, second, replaced, other } = reference
    const at = `${path}/${type}`
    const list = async () => (await reader.get(at)).body[listField]

    t.test(`${type} of a ${kind}: one for each source`, async t => {
      t.same(await list(), [])
      const created = await admin.post(at, first)
      t.equal(created.status, 200)
      t.match(created.body, { ...ids, ...stored })
      const updated = await admin.post(at, second)
      t.match(updated.body, { id: created.body.id, ...replaced })
      t.same(await list(), [updated.body])
      const another = await admin.post(at, other)
      t.same(
        (await list()).map((item: Record<string, string>) => item[source]),
        reference.sources,
      )
      t.equal((await admin.delete(`${at}/${created.body.id}`)).status, 204, 'by id')
      t.equal((await admin.delete(`${at}/${created.body.id}`)).status, 404)
      t.equal((await list()).length, 1)
      const name = reference.isDeletedBySource ? another.body[source] : another.body.id
      t.equal((await admin.delete(`${at}/${encodeURIComponent(name)}`)).status, 204)
      t.equal((await admin.delete(`${at}/${encodeURIComponent(name)}`)).status, 404)
    })

    t.test(`${type} of a ${kind}: invalid values, permissions, unknown owners`, async t => {
      for (const invalid of reference.invalid)
        t.equal((await admin.post(at, invalid)).status, 400, JSON.stringify(invalid))
      t.equal((await reader.post(at, first)).status, 403)
      const unknown = at.replace(/[^/]+(?=\/[^/]+$)/, newId())
      t.equal((await admin.post(unknown, first)).status, 404)
      t.equal((await admin.get(unknown)).status, 404)
      t.equal((await admin.delete(`${unknown}/${newId()}`)).status, 404)
    })
  }

t.test('an external id set by a user is not replaced by a scan', async t => {
  const library = await createTestLibrary(t, all, {
    'Dune/1.cbz': comic(),
    'Dune/series.json': Buffer.from(
      JSON.stringify({ metadata: { type: 'comicSeries', name: 'Dune', comicid: 4711 } }),
    ),
  })
  await library.scan()
  const at = `/series/${(await library.book('1.cbz')).seriesId}/external-ids`
  const [scanned] = (await admin.get(at)).body.externalIds
  t.ok(scanned, 'the file has an external id')
  await admin.post(at, { source: scanned.source, externalId: 'mine' })
  await library.scan({ mode: 'deep' })
  t.match((await admin.get(at)).body.externalIds, [{ id: scanned.id, externalId: 'mine' }])
})
