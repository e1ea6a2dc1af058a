// Details of the Komga-compatible API: posters of lists, books without pages, sign-ins, collections with a condition,
// ids that nothing can have.
import t from 'tap'
import { insertApiKey } from '../../../kit/accounts.ts'
import { png } from '../../../kit/files/archives.ts'
import { epubBytes, item } from '../../../kit/files/epub.ts'
import { enableKomga } from '../../../kit/komga.ts'
import { differences } from '../../../kit/komga-schemas.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'
import {
  clientBookConditions,
  clientSeriesConditions,
  withTypes,
} from '../search/client-conditions.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
await enableKomga(admin)
const shelf = await createTestLibrary(t, all, {
  'Akira/1.cbz': comic(),
  'Bone/1.cbz': comic(),
  'Novel/empty.epub': epubBytes({
    manifest: item('a', 'a.xhtml', 'application/xhtml+xml'),
    files: { 'OPS/a.xhtml': '<html><body>Text</body></html>' },
  }),
})
await shelf.scan()
const byFolder = new Map((await shelf.books()).map(book => [book.folder, book as any]))
const [akira, bone, novel] = ['Akira', 'Bone', 'Novel'].map(name => byFolder.get(name))

const as =
  (headers: Record<string, string>) => async (method: string, path: string, body?: unknown) => {
    const isForm = body instanceof FormData
    const response = await fetch(`${all.base}/komga/api${path}`, {
      method,
      headers: { ...headers, ...(body && !isForm ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
    })
    const isJson = response.headers.get('content-type')?.includes('json')
    const bytes = Buffer.from(await response.arrayBuffer())
    const json = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : null
    return { status: response.status, json, bytes }
  }
const asAdmin = as({ 'x-api-key': admin.key })
const asReader = as({ 'x-api-key': reader.key })

t.test('several posters of a collection and a read list', async t => {
  const kinds = [
    ['/v1/collections', 'seriesIds', [akira.seriesId], 'ThumbnailSeriesCollectionDto'],
    ['/v1/readlists', 'bookIds', [akira.id], 'ThumbnailReadListDto'],
  ] as const
  for (const [path, key, ids, schema] of kinds) {
    const body = { name: 'Posters', summary: '', ordered: false, [key]: ids }
    const own = `${path}/${(await asAdmin('POST', path, body)).json.id}`
    const upload = async (size: number, fields: Record<string, string> = {}) => {
      const form = new FormData()
      form.set('file', new Blob([new Uint8Array(png(size))]), 'poster.png')
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      return (await asAdmin('POST', `${own}/thumbnails`, form)).json
    }
    const listed = async () =>
      (await asReader('GET', `${own}/thumbnails`)).json.map((one: any) => [one.id, one.selected])
    const displayed = async () => (await asReader('GET', `${own}/thumbnail`)).bytes
    const mosaic = await displayed()
    const first = await upload(40, { selected: 'false' })
    t.same(differences(schema, first), [])
    t.same(await listed(), [[first.id, false]])
    t.ok((await displayed()).equals(mosaic), 'not selected by the form')
    const second = await upload(50)
    const both = [
      [first.id, false],
      [second.id, true],
    ]
    t.same(await listed(), both, 'selected by default')
    t.notOk((await displayed()).equals(mosaic))
    t.equal((await upload(40, { selected: 'false' })).id, first.id, 'the same image once')
    t.equal((await asAdmin('PUT', `${own}/thumbnails/${first.id}/selected`)).status, 202)
    t.same(
      await listed(),
      both.map(([id, isSelected]) => [id, !isSelected]),
    )
    t.equal((await asAdmin('PUT', `${own}/thumbnails/${akira.id}/selected`)).status, 404)
    t.equal((await asAdmin('DELETE', `${own}/thumbnails/${first.id}`)).status, 202)
    t.same(await listed(), [[second.id, true]], 'the other one is displayed')
    t.equal((await asAdmin('DELETE', `${own}/thumbnails/${second.id}`)).status, 202)
    t.ok((await displayed()).equals(mosaic))
  }
})

t.test('an EPUB without a reading order has an error', async t => {
  const { json } = await asReader('GET', `/v1/books/${novel.id}`)
  t.match(json.media, { status: 'ERROR', comment: /reading order/, mediaProfile: 'EPUB' })
  t.equal((await asReader('GET', `/v1/books/${novel.id}/manifest`)).status, 422)
  const withStatus = async (value: string) => {
    const condition = { mediaStatus: { operator: 'is', value } }
    const { content } = (await asReader('POST', '/v1/books/list', { condition })).json
    return content.map((book: any) => book.id).sort()
  }
  t.same(await withStatus('READY'), [akira.id, bone.id].sort())
  t.same(await withStatus('ERROR'), [novel.id])
})

t.test('sign-ins are those that started a session', async t => {
  const account = await all.createUser('reader')
  const key = await insertApiKey(all.sql, account.id)
  const signIn = as({ 'x-api-key': key.key })
  const own = '/v2/users/me/authentication-activity'
  // The request itself signs in.
  const { json } = await signIn('GET', `${own}?size=5&sort=dateTime,desc`)
  t.same(differences('PageAuthenticationActivityDto', json), [])
  t.match(json, {
    ...{ totalElements: 1, last: true },
    content: [{ userId: account.id, success: true, source: 'ApiKey', apiKeyId: key.id }],
  })
  const others = '/v2/users/authentication-activity'
  t.equal((await signIn('GET', others)).status, 403)
  const everyone = (await asAdmin('GET', `${others}?unpaged=true`)).json
  for (const { id } of [account, admin])
    t.ok(everyone.content.some((one: any) => one.userId === id))
})

t.test('collections with a condition in conditions, filters and lists', async t => {
  const condition = { title: { operator: 'is', value: 'Bone' } }
  const { body: ruled } = await admin.post('/collections', { name: 'By condition', condition })
  const { json: picked } = await asAdmin('POST', '/v1/collections', {
    ...{ name: 'Picked', ordered: false, seriesIds: [akira.seriesId] },
  })
  const is = (id: string, operator = 'is') => ({ collectionId: { operator, value: id } })
  const namesIn = ({ json }: any) => json.content.map((one: any) => one.name)
  const found = async (condition: object) =>
    namesIn(await asReader('POST', '/v1/series/list?sort=name', { condition }))
  t.same(await found(is(ruled.id)), ['Bone'])
  t.same(await found(is(ruled.id, 'isNot')), ['Akira', 'Novel'])
  t.same(await found({ anyOf: [is(ruled.id), is(picked.id)] }), ['Akira', 'Bone'])
  t.same(await found({ allOf: [is(ruled.id, 'isNot'), is(picked.id, 'isNot')] }), ['Novel'])
  t.same(await found({ allOf: [is(ruled.id), is(picked.id)] }), [])
  const query = `collection_id=${ruled.id},${picked.id}`
  t.same(namesIn(await asReader('GET', `/v1/series?${query}&sort=name`)), ['Akira', 'Bone'])
  t.same(namesIn(await asReader('GET', `/v1/collections/${ruled.id}/series`)), ['Bone'])
  const seen = (await asReader('GET', `/v1/collections/${ruled.id}`)).json
  t.match(seen, { seriesIds: [bone.seriesId], filtered: false })
})

t.test('the conditions of komga-client, with and without the types that it sends', async t => {
  const conditions = {
    series: clientSeriesConditions(shelf.id),
    books: clientBookConditions(shelf.id, bone.seriesId),
  }
  for (const [kind, list] of Object.entries(conditions))
    for (const [i, condition] of [...list, { allOf: list.slice(0, 5) }, { anyOf: [] }].entries()) {
      const ask = (node: unknown) =>
        asReader('POST', `/v1/${kind}/list?sort=name`, { condition: node })
      const plain = await ask(condition)
      t.equal(plain.status, 200, JSON.stringify(condition))
      if (i % 4 === 0) t.same((await ask(withTypes(condition))).json, plain.json)
    }
  t.equal(conditions.series.length + conditions.books.length, 110)
  for (const condition of [
    { type: 'Title' },
    { type: 'Title', titel: { operator: 'is', value: 'x' } },
    { type: 'Both', title: { operator: 'is', value: 'x' }, anyOf: [] },
  ])
    t.equal((await asReader('POST', '/v1/books/list', { condition })).status, 400)
})

t.test('ids that nothing can have are unknown', async t => {
  const unknown: [string, string, unknown][] = [
    ['POST', '/v1/collections', { name: 'X', ordered: false, seriesIds: ['0ABC'] }],
    ['POST', '/v1/readlists', { name: 'X', summary: '', ordered: false, bookIds: ['0ABC'] }],
    ['PATCH', '/v1/books/metadata', { '0ABC': { title: 'X' } }],
  ]
  for (const [method, path, body] of unknown)
    t.equal((await asAdmin(method, path, body)).status, 404, path)
  const condition = { libraryId: { operator: 'is', value: '0ABC' } }
  t.match((await asReader('POST', '/v1/books/list', { condition })).json, { totalElements: 0 })
})
