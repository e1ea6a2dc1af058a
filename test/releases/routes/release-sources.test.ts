// Release sources and tracking over the API: schedules, polls by jobs, resets, aliases, fields of tracking.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { openLog } from '../../../lib/base/log.ts'
import { SourceFailure } from '../../../lib/sources/failure.ts'
import { readSchedule } from '../../../lib/store/schedule/plan.ts'
import { insertReleaseSource, item, poll, pollItems } from '../../kit/releases/polls.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

async function insertSeries(sql: Awaited<ReturnType<typeof startApiWithoutPipeline>>['sql']) {
  const [libraryId, id] = [newId(), newId()]
  await sql`insert into library (id, name, root) values (${libraryId}, 'Books', 'books')`
  await sql`
    insert into series (id, library_id, key, name, title, title_sort, sort_key, search_key, alternate_titles)
    values (${id}, ${libraryId}, 'alpha', 'Alpha folder', 'Alpha', 'Alpha, The', 'alpha', 'alpha',
      '[{"label": "ja", "title": "アルファ"}]')`
  return { libraryId, id }
}

test('release sources', async t => {
  const api = await startApiWithoutPipeline(t)
  const { sql, queue } = api
  const admin = await api.createUser('admin')
  const reader = await api.createUser('reader')
  const series = await insertSeries(sql)
  const path = `/series/${series.id}`

  await t.test('tracking and aliases', async t => {
    const change = {
      ...{ tracked: true, languages: ['de'], pollIntervalOverrideS: 3_600 },
      ...{ volumeChapterMap: { 1: { start: 1, end: 8 } }, latestKnownChapter: 4.5 },
    }
    const tracking = (await admin.patch(`${path}/tracking`, change)).body
    t.match(tracking, {
      ...change,
      trackChapters: true,
      trackVolumes: true,
      latestKnownVolume: null,
    })
    t.same((await admin.patch(`${path}/tracking`, tracking)).body.languages, ['de'], 'sent back')
    const cleared = { languages: null, volume_chapter_map: null, latest_known_chapter: null }
    t.match((await admin.patch(`${path}/tracking`, cleared)).body, {
      ...{ languages: null, volumeChapterMap: null, latestKnownChapter: null, tracked: true },
    })
    t.equal((await admin.patch(`${path}/tracking`, { languages: [1] })).status, 400)
    t.equal((await reader.patch(`${path}/tracking`, { tracked: false })).status, 403)
    const aliases = async () =>
      (await admin.get(`${path}/aliases`)).body.aliases.map((a: { alias: string }) => a.alias)
    t.same((await aliases()).toSorted(), ['Alpha', 'Alpha folder', 'Alpha, The', 'アルファ'])
    const added = await admin.post(`${path}/aliases`, { alias: ' Beta!! ' })
    t.match(added, { status: 201, body: { alias: 'Beta!!', normalized: 'beta', source: 'manual' } })
    t.equal((await admin.post(`${path}/aliases`, { alias: 'Beta!!' })).status, 200)
    t.equal((await admin.post(`${path}/aliases`, { alias: '?!' })).status, 400)
    t.equal((await admin.delete(`${path}/aliases/${added.body.id}`)).status, 204)
    t.equal((await admin.delete(`${path}/aliases/${added.body.id}`)).status, 404)
    const bulk = await admin.post('/series/bulk/untrack-for-releases', { seriesIds: [series.id] })
    t.equal(bulk.status, 200)
    t.equal((await admin.get(path)).body.tracked, false)
    await admin.post('/series/bulk/track-for-releases', { seriesIds: [series.id] })
    t.equal((await admin.get(path)).body.tracked, true)
    const fields = await sql`
      select distinct fields::text from event where type = 'series_updated' order by 1`
    t.same(
      fields.map(row => row.fields),
      ['{aliases}', '{tracking}'],
    )
  })

  const source = await insertReleaseSource(sql)
  const sourcePath = `/release-sources/${source.id}`

  await t.test('schedules', async t => {
    const crons = async () =>
      (await readSchedule({ sql, queue, log: openLog({ level: 'silent' }) }))
        .filter(({ job }) => job.startsWith('poll '))
        .map(({ cron }) => cron.getPattern())
    t.same(await crons(), ['0 0 * * *'])
    const changed = await admin.patch(sourcePath, {
      cronSchedule: '*/5 * * * *',
      displayName: 'Mine',
    })
    t.match(changed.body, {
      ...{ displayName: 'Mine', cronSchedule: '*/5 * * * *', effectiveCronSchedule: '*/5 * * * *' },
      ...{ pluginId: source.sourceId, sourceKey: 'main', kind: 'rss-uploader', lastPolledAt: null },
    })
    t.same(await crons(), ['*/5 * * * *'])
    t.equal((await admin.patch(sourcePath, { cronSchedule: 'often' })).status, 400)
    t.equal(
      (await admin.patch(sourcePath, { cronSchedule: null })).body.effectiveCronSchedule,
      '0 0 * * *',
    )
    await admin.patch(sourcePath, { enabled: false })
    t.same(await crons(), [], 'disabled')
    t.equal((await admin.post(`${sourcePath}/poll-now`)).status, 409)
    t.same((await admin.get('/release-sources/applicability')).body, {
      ...{ applicable: false, pluginDisplayNames: [] },
    })
    await admin.patch(sourcePath, { enabled: true })
    const { body } = await reader.get(
      `/release-sources/applicability?libraryId=${series.libraryId}`,
    )
    t.equal(body.applicable, true)
    t.equal((await reader.get('/release-sources')).status, 403)
  })

  await t.test('polls on request, one at a time', async t => {
    t.match(await admin.post(`${sourcePath}/poll-now`), {
      status: 202,
      body: { status: 'enqueued' },
    })
    t.match((await admin.post(`${sourcePath}/poll-now`)).body, { status: 'already_running' })
    t.match(await admin.post('/release-sources/poll-now-all'), {
      ...{ status: 202, body: { considered: 1, enqueued: 0, coalesced: 1, failed: 0 } },
    })
    t.equal((await admin.post(`/release-sources/${newId()}/poll-now`)).status, 404)
  })

  await t.test('failures, resets and lists of series', async t => {
    await pollItems(sql, source.id, [item({ externalReleaseId: 'a', seriesTitles: ['Alpha'] })])
    const outcome = await poll(sql, source.id, () => {
      throw new SourceFailure('example.org does not respond', 'unreachable')
    })
    t.match(outcome, { end: 'failed' })
    const [failed] = (await admin.get('/release-sources')).body.sources
    t.match(failed, { lastError: 'example.org does not respond', lastSummary: /1 announced/ })
    const events =
      await sql`select data from event where type = 'release_source_polled' order by id`
    t.same(
      events.map(row => row.data.hadError),
      [false, true],
    )
    t.same((await admin.post(`${sourcePath}/reset`)).body, { deletedLedgerEntries: 1 })
    await pollItems(sql, source.id, [item({ externalReleaseId: 'a', seriesTitles: ['Alpha'] })])
    t.same((await admin.post('/release-sources/reset-all')).body, {
      ...{ considered: 1, reset: 1, failed: 0, deletedLedgerEntries: 1 },
    })
    await admin.patch(`${path}/tracking`, { pollIntervalOverrideS: null })
    const bySeries = await insertReleaseSource(sql, { kind: 'rss-series' })
    const queries: unknown[] = []
    await poll(sql, bySeries.id, ({ series, cursor }) => {
      queries.push({ ids: series.map(({ seriesId }) => seriesId), cursor })
      return { items: [], cursor: queries.length, isLast: queries.length > 1 }
    })
    t.same(queries, [
      { ids: [series.id], cursor: null },
      { ids: [series.id], cursor: 1 },
    ])
    const [row] = await sql`select cursor, poll_after from release_source where id = ${bySeries.id}`
    t.same(row, { cursor: 2, poll_after: null }, 'the next poll begins with the first series')
  })
})
