// Automatic matching in the background: tasks, locks, failures of sources, leftovers of a dead process, scans.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { runMatchJob } from '../../../lib/match/job/match-job.ts'
import { claimMatches, matchingSources } from '../../../lib/match/match-queue.ts'
import { SourceFailure } from '../../../lib/sources/failure.ts'
import { doctorFindings, openCatalog } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { createRandom } from '../../kit/random.ts'
import { apiDefaults, serveCatalog } from '../../kit/server.ts'
import { createMemorySource, fetchedSeries, insertMetadataSource } from './metadata-source.ts'

const memory = createMemorySource()
const catalog = await openCatalog(t, apiDefaults, { sources: memory.sources })
const all = await serveCatalog(t, catalog)
const { sql } = all
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')
const sourceId = await insertMetadataSource(sql, 'plugin:memory')

const count = 40
const names = Array.from({ length: count }, (_, i) => `Comet ${i + 1} end`)
const shelf = await createTestLibrary(
  t,
  all,
  Object.fromEntries(names.map(name => [`${name}/1.cbz`, comic({ pages: 1 })])),
)
await shelf.scan()
const idOf = new Map((await shelf.books()).map(book => [book.series, book.seriesId]))
const idAt = (i: number) => idOf.get(names[i]!)!

const job = { libraryId: shelf.id, sourceId, kind: 'series' as const }
/** Runs the job once in this process, without the queue. */
const run = ({ sources } = memory, { signal } = new AbortController()) =>
  runMatchJob(
    {
      ...{ sql, queue: all.pipeline.queue, sources, dataDir: catalog.data },
      makeCover: () => Promise.reject(new Error('not called')),
    },
    job,
    { isStopped: () => signal.aborted, signal },
  )
const makeDue = (ids: readonly string[]) => sql`
  insert into series_match (series_id, source_id, due_at)
  select id, ${sourceId}, now() from unnest(${ids as string[]}::uuid[]) as id
  on conflict (series_id, source_id) do update set due_at = now(), claimed_until = null`
const outcomes = async () => {
  const rows = await sql<{ outcome: string; due: boolean; count: number }[]>`
    select outcome, due_at is not null as due, count(*)::integer as count from series_match
    group by 1, 2 order by 1, 2`
  return rows.map(({ outcome, due, count }) => `${outcome}${due ? ' (due)' : ''}: ${count}`)
}
/** And until the jobs have ended, which would work for the next test. */
async function untilMatched() {
  const working = () => sql`
    select 1 from series_match where due_at is not null
    union all
    select 1 from pgboss.job where name = 'match' and state < 'completed' limit 1`
  while ((await working()).length > 0) await sleep(20)
}

const fields = {
  ...{ title: 'title', summary: 'summary', publisher: 'publisher', imprint: 'imprint' },
  ...{ titleSort: 'titleSort', language: 'ja', year: 1999, ageRating: 12, status: 'hiatus' },
  ...{ readingDirection: 'rtl', totalVolumeCount: 7, totalChapterCount: 70.5 },
  ...{ genres: ['Drama'], tags: ['space'], authors: [{ name: 'A', role: null, sortName: null }] },
}
for (const [i, name] of names.entries())
  memory.series.set(`id-${i}`, fetchedSeries(`id-${i}`, { ...fields, title: `${name}!` }))

t.test('the settings of all sources are read by one statement', async t => {
  const ids = [
    await insertMetadataSource(sql, 'plugin:second'),
    await insertMetadataSource(sql, 'plugin:third'),
  ]
  await sql`update source set matching = '{"enabled": false}' where id = ${ids[0]!}`
  const sent: string[] = []
  sql.options.debug = (_: number, text: string) => sent.push(text)
  const sources = await matchingSources(sql, 'series')
  sql.options.debug = () => {}
  await sql`delete from source where id = any(${ids})`
  t.same(
    sources.map(({ row }) => row.id),
    [sourceId, ids[1]],
  )
  t.equal(sent.filter(text => text.includes('matching from source')).length, 1)
})

t.test('no locked field changes', async t => {
  const random = createRandom(15)
  const flagOf = (field: string) => (field === 'authors' ? 'authorsJsonLock' : field)
  const locked = new Map<string, string[]>()
  for (const i of names.keys()) {
    const some = random.some(Object.keys(fields), 12)
    locked.set(idAt(i), some)
    const flags = Object.fromEntries(some.map(field => [flagOf(field), true]))
    await admin.put(`/series/${idAt(i)}/metadata/locks`, flags)
  }
  const columnOf = (field: string) => field.replace(/[A-Z]/g, c => `_${c.toLowerCase()}`)
  const snapshot = async () => {
    const rows = await sql<{ id: string; row: Record<string, unknown> }[]>`
      select id, to_jsonb(s) as row from series s`
    return new Map(rows.map(({ id, row }) => [id, row]))
  }
  const before = await snapshot()
  // Sources of releases alone have nothing to be matched with.
  const feed = await insertMetadataSource(sql, 'feed', 'feed')
  const { body } = await admin.post(`/libraries/${shelf.id}/metadata/auto-match/task`)
  await sql`delete from source where id = ${feed}`
  t.match(body, {
    success: true,
    tasksEnqueued: 1,
    message: `${count} series and books to be matched`,
  })
  t.match((await admin.get(`/tasks/${body.taskId}`)).body, { taskType: 'plugin_auto_match' })
  await untilMatched()
  t.same(await outcomes(), [`matched: ${count}`])
  const after = await snapshot()
  const wrong: string[] = []
  let changed = 0
  for (const [i, name] of names.entries())
    for (const field of Object.keys(fields)) {
      const [old, now] = [before, after].map(rows => rows.get(idAt(i))![columnOf(field)])
      const stated = field === 'title' ? `${name}!` : fields[field as keyof typeof fields]
      const expected = locked.get(idAt(i))!.includes(field) ? old : stated
      if (JSON.stringify(now) !== JSON.stringify(expected)) wrong.push(`${name} ${field}`)
      else changed += JSON.stringify(now) === JSON.stringify(old) ? 0 : 1
    }
  t.same(wrong, [])
  t.ok(changed > count, `${changed} fields changed`)
  t.same(await doctorFindings(catalog), [])
})

t.test('unchanged metadata is not written again', async t => {
  const ids = [idAt(0), idAt(1)]
  const times = () => sql`select updated_at from series where id = any(${ids}) order by id`
  const before = await times()
  memory.calls.length = 0
  await makeDue(ids)
  t.equal(await run(), undefined)
  t.same(memory.calls.sort(), ['fetch id-0', 'fetch id-1'])
  t.same(await times(), before)
  t.ok((await outcomes()).includes('unchanged: 2'))
  // After a change at the source it is written, compared once.
  memory.series.set('id-0', fetchedSeries('id-0', { summary: 'New' }))
  await admin.put(`/series/${idAt(0)}/metadata/locks`, { summary: false })
  await makeDue(ids)
  const sent: string[] = []
  sql.options.debug = (_: number, text: string) => sent.push(text)
  await run()
  sql.options.debug = () => {}
  t.equal(sent.filter(text => text.includes('s.locks, s.provenance')).length, 2, 'two series')
  t.equal((await reader.get(`/series/${idAt(0)}/metadata`)).body.summary, 'New')
})

t.test('a source that fails is called again later, an invalid answer is one failure', async t => {
  const retryAt = new Date(Date.now() + 120_000)
  memory.state.failure = new SourceFailure('memory wants no requests', 'limited', { retryAt })
  await makeDue([idAt(2), idAt(3)])
  const outcome = await run()
  t.match(outcome, { end: 'later' })
  t.ok((outcome as { seconds: number }).seconds > 60)
  t.ok((await outcomes()).includes('matched (due): 2'), 'both are due')
  memory.state.failure = null
  await sql`update source set failures = 0, retry_at = null`
  memory.series.set('id-3', { ...fetchedSeries('id-3'), externalId: 'another' })
  await makeDue([idAt(2), idAt(3)])
  t.equal(await run(), undefined)
  const matches = async (i: number) =>
    (await admin.get(`/series/${idAt(i)}/metadata/matches`)).body.matches
  t.match(await matches(2), [{ outcome: 'unchanged', isDue: false }])
  t.equal((await reader.get(`/series/${idAt(3)}/metadata/matches`)).status, 403)
  t.match(await matches(3), [{ outcome: 'failed', message: /a different series/, isDue: false }])
  await sql`update source set failures = 0, retry_at = null`
})

t.test('a claim has at most as many series as its limit, with any plan', async t => {
  await makeDue(names.map((_, i) => idAt(i)))
  const claims = await sql.begin(async tx => {
    // A plan with the limited subquery as the inner side of the join.
    await tx`set local enable_hashjoin = off`
    await tx`set local enable_mergejoin = off`
    await tx`set local enable_indexscan = off`
    await tx`set local enable_bitmapscan = off`
    await tx`set local enable_material = off`
    await tx`update pg_class set reltuples = 1 where relname = 'series_match'`
    return await claimMatches(tx, job, 3)
  })
  t.equal(claims.length, 3)
  await sql`update series_match set due_at = null, claimed_until = null, attempts = 0`
})

t.test('what a dead process claimed is due again, and a disabled source is not called', async t => {
  await makeDue([idAt(4), idAt(5)])
  t.equal((await claimMatches(sql, job, 10)).length, 2)
  t.match(await run(), { end: 'later' }, 'another process works on them')
  await sql`update series_match set claimed_until = now() - interval '1 second'`
  t.equal(await run(), undefined)
  memory.calls.length = 0
  await sql`update source set enabled = false`
  await makeDue([idAt(4), idAt(5)])
  t.equal(await run(), undefined)
  t.same(memory.calls, [])
  t.ok((await outcomes()).includes('plugin_disabled: 2'))
  await sql`update source set enabled = true`
})

t.test('series are due at once when their job is stopped during a call', async t => {
  await makeDue([idAt(4), idAt(5)])
  const stop = new AbortController()
  const stopped = createMemorySource(() => {
    stop.abort()
    throw stop.signal.reason
  })
  await t.rejects(run(stopped, stop))
  const due = await sql`
    select attempts from series_match
    where due_at <= now() and claimed_until is null and series_id = any(${[idAt(4), idAt(5)]})`
  t.same(due, [{ attempts: 0 }, { attempts: 0 }])
  await run()
})

t.test('equal ids from a source group series as duplicates, if the source is trusted', async t => {
  const setting = '/admin/settings/duplicate_detection.trusted_external_id_sources'
  const same = { externalIds: [{ source: 'anilist', externalId: '77', url: null }] }
  for (const i of [6, 7]) {
    memory.series.set(`id-${i}`, fetchedSeries(`id-${i}`, {}, same))
    await admin.post(`/series/${idAt(i)}/metadata/apply`, { sourceId, externalId: `id-${i}` })
  }
  const [enqueued] = await sql`select 1 from pgboss.job where name = 'dedupe' limit 1`
  t.ok(enqueued)
  const keys = async () => {
    await all.dedupe()
    const { body } = await admin.get('/duplicates/series?matchType=external_id')
    return body.data.map((group: { matchKey: string }) => group.matchKey)
  }
  t.same(await keys(), ['anilist:77'])
  await admin.put(setting, { value: 'mangadex, plugin:memory' })
  t.same(await keys(), [])
  await admin.put(setting, { value: 'anilist' })
  t.same(await keys(), ['anilist:77'])
})

t.test('new series are matched after a scan when that is enabled', async t => {
  await admin.put('/admin/settings/plugins.post_scan_auto_match_enabled', { value: true })
  const threshold = '/admin/settings/plugins.auto_match_confidence_threshold'
  t.equal((await admin.put(threshold, { value: 1.5 })).status, 400)
  t.match((await admin.put(threshold, { value: '0.5' })).body, { value: '0.5', valueType: 'Float' })
  memory.state.relevance = 0.6
  memory.series.set('new', fetchedSeries('new', { title: 'Meteor of the end', summary: 'Found' }))
  shelf.write('Meteor/1.cbz', comic({ pages: 1 }))
  memory.calls.length = 0
  await shelf.scan()
  await untilMatched()
  const { seriesId } = (await shelf.books()).find(book => book.title && book.folder === 'Meteor')!
  t.match((await reader.get(`/series/${seriesId}/metadata`)).body, {
    title: 'Meteor of the end',
    summary: 'Found',
  })
  t.same(memory.calls, ['search Meteor', 'fetch new'], 'the others were matched before')

  const callsAfter = async (outcome: string, days: number) => {
    await all.sql`
      update series_match set outcome = ${outcome}, matched_at = now() - make_interval(days => ${days})
      where series_id = ${seriesId}`
    memory.calls.length = 0
    await shelf.scan()
    await untilMatched()
    return memory.calls.length > 0
  }
  t.same([await callsAfter('matched', 29), await callsAfter('matched', 31)], [false, true])
  t.same([await callsAfter('no_match', 6), await callsAfter('no_match', 8)], [false, true])
})

t.test('tasks of one series, of several, and what is hidden', async t => {
  const bulk = await admin.post('/series/metadata/auto-match/task/bulk', {
    seriesIds: [idAt(8), idAt(9), newId()],
    force: true,
  })
  t.match(bulk.body, { tasksEnqueued: 1, message: '2 series to be matched' })
  await untilMatched()
  const one = await admin.post(`/series/${idAt(8)}/metadata/auto-match/task`, { sourceId })
  t.equal(one.body.message, '1 series to be matched')
  t.equal((await admin.post(`/series/${newId()}/metadata/auto-match/task`)).status, 404)
  t.equal((await reader.post(`/series/${idAt(8)}/metadata/auto-match/task`)).status, 403)
  await untilMatched()
})
