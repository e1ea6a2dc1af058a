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
  t.test(`links of ${at.split('/')[1]} are one a source`, async t => {
    t.same((await reader.get(`${at}/external-links`)).body, { links: [] })
    const first = await admin.post(`${at}/external-links`, {
      source_name: 'wiki',
      url: 'https://example.org/1',
      externalId: '7',
    })
    t.equal(first.status, 200)
    t.match(first.body, { ...owner, sourceName: 'wiki', externalId: '7' })
    const url = 'http://example.org/2'
    const second = await admin.post(`${at}/external-links`, { sourceName: 'wiki', url })
    t.match(second.body, { id: first.body.id, url, externalId: null })
    t.same((await reader.get(`${at}/external-links`)).body, { links: [second.body] })
    await admin.post(`${at}/external-links`, { sourceName: 'a/b shop', url })
    t.equal((await admin.delete(`${at}/external-links/${first.body.id}`)).status, 204, 'by id')
    const shop = encodeURIComponent('a/b shop')
    t.equal((await admin.delete(`${at}/external-links/${shop}`)).status, 204, 'by source')
    t.equal((await admin.delete(`${at}/external-links/${shop}`)).status, 404)
    t.same((await reader.get(`${at}/external-links`)).body, { links: [] })
  })

  t.test(`links of ${at.split('/')[1]} lead to the web only`, async t => {
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', '//example.org', 'example', ''])
      t.equal((await admin.post(`${at}/external-links`, { sourceName: 'x', url })).status, 400, url)
    const given = { sourceName: 'x', url: 'https://example.org' }
    t.equal((await reader.post(`${at}/external-links`, given)).status, 403)
    const nowhere = at.replace(/[^/]+$/, newId())
    t.equal((await admin.post(`${nowhere}/external-links`, given)).status, 404)
    t.equal((await admin.get(`${nowhere}/external-links`)).status, 404)
    t.equal((await admin.delete(`${nowhere}/external-links/x`)).status, 404)
  })
}
