// Metadata from sources over HTTP: search, comparison, application with locks and provenance, covers.
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { SourceFailure } from '../../../lib/sources/failure.ts'
import { doctorFindings, openCatalog } from '../../kit/catalog.ts'
import { png } from '../../kit/files/archives.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { apiDefaults, serveCatalog } from '../../kit/server.ts'
import { createMemorySource, fetchedSeries, insertMetadataSource } from './metadata-source.ts'

const memory = createMemorySource()
const catalog = await openCatalog(t, apiDefaults, { sources: memory.sources })
const all = await serveCatalog(t, catalog)
const { sql } = all
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const sourceId = await insertMetadataSource(sql, 'plugin:memory')

const info = (series: string) =>
  `<?xml version="1.0"?><ComicInfo><Series>${series}</Series><Publisher>Kodansha</Publisher><Genre>Action</Genre></ComicInfo>`
const names = Array.from({ length: 12 }, (_, i) => `Planet ${String.fromCharCode(65 + i)}`)
const shelf = await createTestLibrary(
  t,
  all,
  Object.fromEntries(names.map(name => [`${name}/1.cbz`, comic({ info: info(name) })])),
)
await shelf.scan()
const ids = new Map((await shelf.books()).map(book => [book.series, book.seriesId]))
const rescan = () => shelf.scan({ mode: 'deep' })

/** A series for one test, with what the source states of it. */
function subject(metadata: Record<string, unknown>, others = {}) {
  const name = names.pop()!
  const id = ids.get(name)!
  const externalId = `x-${name.replace(' ', '-')}`
  memory.series.set(externalId, fetchedSeries(externalId, metadata, others))
  const at = `/series/${id}/metadata`
  const request = (what: string, body: object = {}) =>
    admin.post(`${at}/${what}`, { sourceId, externalId, ...body })
  const metadataNow = async () => (await reader.get(at)).body
  return { id, name, at, externalId, request, metadataNow }
}

/** Whether a search for duplicates was enqueued since the last call. */
const isDedupeDue = async () => {
  const jobs = await sql`delete from pgboss.job where name = 'dedupe' returning 1`
  return jobs.length > 0
}

const full = {
  title: 'Another title',
  summary: 'A summary.',
  publisher: 'Source House',
  status: 'Ended',
  year: 1999,
  language: 'ja',
  genres: ['Drama', 'drama', 'Science Fiction'],
  tags: ['space'],
  authors: [{ name: 'A. Uthor', role: 'writer' }],
  alternateTitles: [{ label: 'ja', title: 'ほか' }],
}

t.test('what a source states is compared, applied, and survives scans', async t => {
  const { at, externalId, name, request, metadataNow } = subject(
    {
      ...full,
      ageRating: 'young',
      customMetadata: { a: 1 },
      unknownField: 1,
      imprint: '',
      year: 1999,
    },
    {
      externalIds: [{ source: 'anilist', externalId: '9', url: 'https://anilist.example/9' }],
      links: [{ source: 'wiki', url: 'https://wiki.example/a' }],
      ratings: [{ source: 'anilist', rating: 88.5, votes: 10 }],
    },
  )
  await admin.patch(at, { year: 1950 })
  const preview = await request('preview')
  const action = (field: string) =>
    preview.body.fields.find((f: { field: string }) => f.field === field)?.action
  t.match(preview.body, { sourceId, externalId, isUnchanged: false })
  t.same(['title', 'publisher', 'genres', 'year', 'ageRating', 'externalIds'].map(action), [
    'change',
    'change',
    'change',
    'locked',
    'invalid',
    'change',
  ])
  t.same([action('imprint'), action('customMetadata')], [undefined, undefined])
  t.match(
    preview.body.fields.find((f: { field: string }) => f.field === 'publisher'),
    { current: 'Kodansha', proposed: 'Source House', isLocked: false, provenance: null },
  )
  await isDedupeDue()
  const dry = await request('apply', { dryRun: true })
  t.ok(dry.body.isDryRun && dry.body.appliedFields.includes('title'))
  t.equal((await metadataNow()).title, name)
  t.equal(await isDedupeDue(), false)
  const { status, body } = await request('apply')
  t.equal(status, 200)
  t.equal(await isDedupeDue(), true, 'the new ids may be those of another series')
  t.same(body.skippedFields, [
    { field: 'ageRating', reason: 'invalid' },
    { field: 'year', reason: 'locked' },
  ])
  const check = async (when: string) => {
    const metadata = await metadataNow()
    t.match(
      metadata,
      {
        ...full,
        year: 1950,
        status: 'ended',
        genres: [{ name: 'Drama' }, { name: 'Science Fiction' }],
        tags: [{ name: 'space' }],
        customMetadata: null,
        externalRatings: [{ sourceName: 'anilist', rating: 88.5, voteCount: 10 }],
        externalLinks: [{ sourceName: 'wiki', url: 'https://wiki.example/a' }],
      },
      when,
    )
    const [own] = metadata.externalIds.filter((id: { source: string }) => id.source !== 'anilist')
    t.match(own, {
      source: 'plugin:memory',
      externalId,
      externalUrl: /example\.org/,
      metadataHash: /^[0-9a-f]{64}$/,
    })
    t.same([metadata.locks.title, metadata.locks.year], [false, true])
  }
  await check('after the application')
  await rescan()
  await check('after a deep scan')
  const again = await request('preview')
  t.equal(again.body.isUnchanged, true)
  t.same([...new Set(again.body.fields.map((f: { action: string }) => f.action))].sort(), [
    'invalid',
    'locked',
    'same',
  ])
  // A user wins over the source, and a reset returns to the files.
  await admin.patch(at, { publisher: 'Mine' })
  await request('apply')
  t.equal((await metadataNow()).publisher, 'Mine')
  await admin.delete(at)
  t.match(await metadataNow(), { title: name, publisher: 'Kodansha', genres: [{ name: 'Action' }] })
  t.same((await metadataNow()).externalIds, [])
})

t.test('only permitted and selected fields are applied', async t => {
  const { request, metadataNow } = subject(full)
  const settings = `/admin/sources/${sourceId}/matching`
  const fields = ['title', 'summary', 'genres']
  t.match((await admin.put(settings, { fields })).body, { fields, enabled: true })
  const { body } = await request('apply', { fields: ['title', 'publisher'] })
  t.same(body.appliedFields, ['title'])
  t.match(body.skippedFields, [
    { field: 'summary', reason: 'not_selected' },
    { field: 'publisher', reason: 'not_permitted' },
  ])
  t.match(await metadataNow(), { title: full.title, publisher: 'Kodansha', summary: null })
  await admin.put(settings, {})
  t.equal((await admin.put(settings, { searchTemplate: '{{#if' })).status, 400)
  t.equal(
    (await admin.put(settings, { titleRules: [{ pattern: '(', replacement: '' }] })).status,
    400,
  )
  t.equal((await admin.put(`/admin/sources/${newId()}/matching`, {})).status, 404)
  t.equal((await reader.put(settings, {})).status, 403)
})

t.test('references that a user changed stay', async t => {
  const { id, request, metadataNow } = subject(
    {},
    {
      externalIds: [{ source: 'anilist', externalId: '1', url: null }],
      links: [{ source: 'wiki', url: 'https://wiki.example/source' }],
      ratings: [{ source: 'anilist', rating: 50, votes: null }],
    },
  )
  await admin.post(`/series/${id}/external-links`, {
    sourceName: 'wiki',
    url: 'https://wiki.example/user',
  })
  await admin.post(`/series/${id}/external-ids`, { source: 'anilist', externalId: '2' })
  const { body } = await request('apply')
  t.same(body.appliedFields, ['externalRatings'])
  const { externalLinks, externalIds } = await metadataNow()
  t.match(externalLinks, [{ url: 'https://wiki.example/user' }])
  t.match(externalIds, [{ source: 'anilist', externalId: '2' }, { source: 'plugin:memory' }])
})

t.test('covers pass the decoder of uploads, and a locked cover stays', async t => {
  const coverUrl = 'https://example.org/cover.png'
  const { id, externalId, request } = subject({}, { coverUrl })
  t.equal((await request('apply')).body.cover, 'failed')
  memory.images.set(coverUrl, Buffer.from('<html>no image</html>'))
  t.equal((await request('apply')).body.cover, 'failed')
  memory.images.set(coverUrl, png(40))
  t.equal((await request('apply')).body.cover, 'set')
  const covers = async () => (await reader.get(`/series/${id}/covers`)).body.covers
  t.match(await covers(), [{ source: 'plugin:memory', isSelected: true }])
  t.equal((await reader.get(`/series/${id}/metadata`)).body.locks.cover, false)
  memory.images.set(coverUrl, png(50))
  const old = await covers()
  t.equal((await request('apply')).body.cover, 'set')
  t.equal((await covers()).length, 1)
  t.not((await covers())[0].id, old[0].id)
  const current = await covers()
  memory.images.set(coverUrl, png(55))
  t.equal((await request('apply', { fields: ['title'] })).body.cover, 'none', 'not selected')
  await admin.put(`/admin/sources/${sourceId}/matching`, { fields: ['title'] })
  t.equal((await request('apply')).body.cover, 'none', 'not permitted')
  await admin.put(`/admin/sources/${sourceId}/matching`, {})
  t.same(await covers(), current)
  await admin.put(`/series/${id}/metadata/locks`, { cover: true })
  memory.images.set(coverUrl, png(60))
  t.equal((await request('apply')).body.cover, 'locked')
  t.equal(memory.series.get(externalId)?.coverUrl, coverUrl)
})

t.test('search by template and title rules', async t => {
  const { at, name } = subject({ title: 'Found' })
  const settings = {
    searchTemplate: '{{metadata.title}} {{metadata.publisher}}',
    titleRules: [{ pattern: '(?i) kodansha$', replacement: '', enabled: true }],
  }
  await admin.put(`/admin/sources/${sourceId}/matching`, settings)
  const title = await reader.get(`${at}/search-title?pluginId=${sourceId}`)
  t.same(title.body, { title: name, searchTitle: name })
  memory.calls.length = 0
  t.same((await admin.post(`${at}/search`, { sourceId })).body, { query: name, results: [] })
  const { body } = await admin.post(`${at}/search`, { sourceId, query: 'found' })
  t.match(body, { query: 'found', results: [{ title: 'Found', relevance: 1 }] })
  t.same(memory.calls, [`search ${name}`, 'search found'])
  await admin.put(`/admin/sources/${sourceId}/matching`, {})
  t.match((await reader.get('/metadata/sources')).body, {
    sources: [{ id: sourceId, name: 'plugin:memory' }],
  })
})

t.test('automatic matching by id or by the best hit', async t => {
  const { at, name, externalId, metadataNow } = subject({})
  const match = async () => (await admin.post(`${at}/auto-match`, { sourceId })).body
  await isDedupeDue()
  t.match(await match(), { outcome: 'no_match', relevance: null })
  memory.series.set(externalId, fetchedSeries(externalId, { title: `${name} !`, summary: 'S' }))
  memory.state.relevance = 0.79
  t.match(await match(), { outcome: 'low_confidence', relevance: 0.79 })
  t.equal(await isDedupeDue(), false, 'ids have not changed')
  memory.state.relevance = 0.8
  t.match(await match(), {
    outcome: 'matched',
    relevance: 0.8,
    appliedFields: ['title', 'summary'],
  })
  t.equal((await metadataNow()).summary, 'S')
  t.equal(await isDedupeDue(), true)
  memory.calls.length = 0
  t.match(await match(), { outcome: 'matched', relevance: null, appliedFields: [] })
  t.same(memory.calls, [`fetch ${externalId}`])
  const never = { rules: [{ field: 'metadata.title', operator: 'is_null' }] }
  await admin.put(`/admin/sources/${sourceId}/matching`, { conditions: never })
  t.match(await match(), { outcome: 'plugin_conditions_not_met' })
  await admin.put(`/libraries/${shelf.id}`, { autoMatchConditions: never })
  t.match(await match(), { outcome: 'library_conditions_not_met' })
  await admin.put(`/libraries/${shelf.id}`, { autoMatchConditions: null })
  await admin.put(`/admin/sources/${sourceId}/matching`, {})
  t.match((await admin.get(`${at}/matches`)).body, {
    matches: [{ source: 'plugin:memory', outcome: 'library_conditions_not_met', isDue: false }],
  })
})

t.test('automatic matching respects the priority of sources, a person does not', async t => {
  const coverUrl = 'https://example.org/priority.png'
  memory.images.set(coverUrl, png(70))
  const { id, at, externalId, request, metadataNow } = subject(
    { summary: 'High', year: 1900 },
    { coverUrl },
  )
  await request('apply')
  const coverNow = async () => {
    const { covers } = (await reader.get(`/series/${id}/covers`)).body
    return covers.find((cover: { isSelected: boolean }) => cover.isSelected)?.source
  }
  const other = await insertMetadataSource(sql, 'plugin:low')
  await admin.put(`/admin/sources/${other}/matching`, { priority: 10 })
  t.equal((await admin.put(`/admin/sources/${other}/matching`, { priority: 101 })).status, 400)
  const metadata = { summary: 'Low', publisher: 'Other' }
  memory.images.set(`${coverUrl}?low`, png(80))
  const low = fetchedSeries(externalId, metadata, { coverUrl: `${coverUrl}?low` })
  memory.series.set(externalId, low)
  const known = { source: 'plugin:low', externalId }
  await admin.post(`${at.replace('/metadata', '')}/external-ids`, known)
  const { body } = await admin.post(`${at}/auto-match`, { sourceId: other })
  t.match(body, { outcome: 'matched', appliedFields: ['publisher'] })
  t.match(await metadataNow(), { summary: 'High', publisher: 'Other', year: 1900 })
  t.equal(await coverNow(), 'plugin:memory')
  await admin.post(`${at}/apply`, { sourceId: other, externalId })
  t.match(await metadataNow(), { summary: 'Low' })
  t.equal(await coverNow(), 'plugin:low')
  await sql`delete from source where id = ${other}`
})

t.test('a source that was never called describes itself first', async t => {
  const { at, externalId } = subject({ summary: 'Described' })
  const id = await insertMetadataSource(sql, 'plugin:other')
  memory.state.isUnknown = true
  memory.calls.length = 0
  const match = { sourceId: id, externalId }
  t.match((await admin.post(`${at}/preview`, match)).body, { sourceId: id, isUnchanged: false })
  t.match((await admin.post(`${at}/preview`, match)).body, { sourceId: id })
  t.same(memory.calls, ['describe', `fetch ${externalId}`, `fetch ${externalId}`])
  memory.state.isUnknown = false
  await sql`delete from source where id = ${id}`
})

t.test('failures of a source are 502, unknown series 404', async t => {
  const { at, request } = subject({})
  memory.state.failure = new SourceFailure('memory takes too long', 'timeout')
  // The client of the tests accepts no status of 500 and above.
  const response = await fetch(`${all.base}/api/v1${at}/preview`, {
    method: 'POST',
    headers: { 'x-api-key': admin.key, 'content-type': 'application/json' },
    body: JSON.stringify({ sourceId, externalId: 'a' }),
  })
  t.match(await response.json(), { error: 'BadGateway', message: 'memory takes too long' })
  memory.state.failure = null
  await sql`update source set failures = 0, retry_at = null`
  t.equal((await request('preview', { externalId: 'none' })).status, 404)
  t.equal((await request('preview', { sourceId: newId() })).status, 404)
  t.equal((await reader.post(`${at}/apply`, { sourceId, externalId: 'a' })).status, 403)
  t.same(await doctorFindings(catalog), [])
})
