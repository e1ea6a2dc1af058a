// Release ledger over a seeded database (npm run bench -- seed): 100,000 releases of 5,000 tracked series, stored by
// polls; latency of the inbox, its facets and the lists of series for every filter, sort order, page and kind
// of viewer; a poll of 1,000 new releases beside 20 readers. Exits with 1 when a bound is exceeded.
// npm run bench -- releases --data DIR [--database-url URL] [--rounds 5]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { unrestrictedViewer } from '../../lib/accounts/viewer.ts'
import { openApi } from '../../lib/api/open.ts'
import { openLog } from '../../lib/base/log.ts'
import { setTracked } from '../../lib/releases/tracking.ts'
import type { ReleaseItem } from '../../lib/sources/contract.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase, type Sql } from '../../lib/store/postgres/db.ts'
import { openQueue } from '../../lib/store/queue/queue.ts'
import { createRandom } from '../../test/kit/random.ts'
import { insertReleaseSource, item, pollItems } from '../../test/kit/releases/polls.ts'
import { openClient } from '../grid/client.ts'
import { gridViewers } from '../grid/viewers.ts'
import { print } from '../kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    'database-url': { type: 'string' },
    rounds: { type: 'string', default: '5' },
  },
})
const trackedSeries = 5_000
const releases = 100_000
const perPoll = 1_000
const readers = 20
const maxListMs = 60
const maxPollMs = 2_000
const pageSize = 50

const random = createRandom(1)
const config = loadConfig({
  env: {},
  flags: {
    data_dir: values.data,
    'database.url': values['database-url'],
    'rate_limit.enabled': false,
    'application.port': 0,
  },
})
const database = await openDatabase(config)
const { sql } = database
const queue = await openQueue(sql, () => {})
const api = await openApi({ sql, config, queue, log: openLog({ level: 'fatal' }) })
const base = await api.server.listen({ host: '127.0.0.1', port: 0 })
const client = openClient(base)
const failures: string[] = []

try {
  const viewers = await gridViewers(sql)
  const series = await track(sql, viewers[0]!.viewer.accountId)
  const sources = await fill(sql, series)
  print({ releases: await countReleases(sql), trackedSeries: series.length })
  await measureLists(sources)
  await measurePoll(sources[0]!)
} finally {
  client.close()
  await api.close()
  await queue.close()
  await database.close()
}
for (const exceeded of failures) print({ exceeded })
process.exitCode = failures.length > 0 ? 1 : 0

type Tracked = { id: string; title: string; libraryId: string }

async function track(sql: Sql, accountId: string): Promise<Tracked[]> {
  const series = await sql<Tracked[]>`
    select id, title, library_id as "libraryId" from series where book_count > 0
    order by md5(id::text) limit ${trackedSeries}`
  const viewer = unrestrictedViewer(accountId)
  for (let start = 0; start < series.length; start += 100)
    await setTracked(sql, viewer, {
      seriesIds: series.slice(start, start + 100).map(({ id }) => id),
      tracked: true,
    })
  return [...series]
}

/** `tag` is part of the ids, so different tags yield different releases. */
function itemsOf(series: readonly Tracked[], tag: string): ReleaseItem[] {
  return Array.from({ length: perPoll }, (_, i) => {
    const { title } = series[Math.floor(random.next() * series.length)]!
    const chapter = Math.floor(random.next() * 900) + (random.next() < 0.1 ? 0.5 : 0)
    const isVolume = random.next() < 0.3
    const span = [{ start: chapter, end: chapter + Math.floor(random.next() * 3) }]
    const at = new Date(1.6e12 + Math.floor(random.next() * 1e11)).toISOString()
    return item({
      externalReleaseId: `${tag}-${i}`,
      title: `[Group] ${title} - c${chapter} (Digital)`,
      groupOrUploader: `group ${i % 40}`,
      language: ['en', 'en', 'en', 'de', 'fr', 'ja'][i % 6]!,
      ...(isVolume ? { volumes: span } : { chapters: span }),
      releasedAt: i % 10 === 0 ? null : at,
      // Some are spelled otherwise.
      seriesTitles: [i % 20 === 0 ? `${title} s` : title],
      metadata: { size: i * 1_000_003, seeders: i % 50 },
    })
  })
}

async function fill(sql: Sql, series: readonly Tracked[]) {
  const known = await sql<{ id: string }[]>`
    select id from release_source where display_name like 'Releases of bench%' order by id`
  const sources = [...known]
  while (sources.length < 3) {
    const { id } = await insertReleaseSource(sql, { name: `bench-${sources.length}` })
    sources.push({ id })
  }
  if ((await countReleases(sql)) >= releases) return sources
  for (let n = 0; (await countReleases(sql)) < releases; n++)
    await pollItems(sql, sources[n % 3]!.id, itemsOf(series, `fill-${n}-${Date.now()}`))
  // States as they are after a while: four in ten are new.
  await sql`
    update release set state = case
      when hashtext(id::text) % 10 between -3 and 3 then 'announced'
      when hashtext(id::text) % 10 < -3 then 'hidden'
      when hashtext(id::text) % 10 < 7 then 'dismissed' else 'marked_acquired' end`
  await sql`
    insert into release_change (release_id, from_state, to_state, reason)
    select r.id, c.to_state, r.state, 'request'
    from release r cross join lateral (
      select to_state from release_change where release_id = r.id order by id desc limit 1) c
    where c.to_state <> r.state`
  await sql`vacuum analyze release`
  await sql`vacuum analyze series_tracking`
  await sql`vacuum analyze series_alias`
  return sources
}

async function countReleases(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*)::integer as n from release`
  return row!.n
}

type Case = { name: string; path: string }

async function casesOf(sources: readonly { id: string }[]): Promise<Case[]> {
  const [library] = await sql<{ id: string }[]>`select id from library order by name limit 1`
  const [busy] = await sql<{ id: string }[]>`
    select series_id as id from release group by series_id order by count(*) desc limit 1`
  const filters: Record<string, string> = {
    announced: '',
    all: 'state=all',
    hidden: 'state=hidden',
    language: 'state=all&language=de',
    library: `state=all&libraryId=${library!.id}`,
    source: `state=all&sourceId=${sources[1]!.id}`,
    series: `state=all&seriesId=${busy!.id}`,
    several: `language=en&libraryId=${library!.id}&sourceId=${sources[0]!.id}`,
  }
  const sorts = ['series', 'observed', 'released'].flatMap(field => [
    `${field},asc`,
    `${field},desc`,
  ])
  return [
    ...Object.entries(filters).flatMap(([name, query]) => [
      { name: `facets, ${name}`, path: `/releases/facets?${query}` },
      ...sorts.map(sort => ({
        name: `inbox, ${name}, ${sort}`,
        path: `/releases?${query}&sort=${sort}&pageSize=${pageSize}`,
      })),
    ]),
    { name: 'series', path: `/series/${busy!.id}/releases?pageSize=20` },
    { name: 'series, announced', path: `/series/${busy!.id}/releases?state=announced` },
  ]
}

async function measureLists(sources: readonly { id: string }[]) {
  const viewers = await gridViewers(sql)
  const times: { name: string; ms: number }[] = []
  for (const { name, path } of await casesOf(sources))
    for (const viewer of viewers) {
      const first = await client.send({ path }, viewer.key)
      if (first.status === 404) continue
      if (first.status !== 200) throw new Error(`${path}: ${first.status} ${first.text}`)
      const { totalPages = 1 } = JSON.parse(first.text) as { totalPages?: number }
      const pages = path.includes('facets')
        ? ['']
        : [1, Math.ceil(totalPages / 2), totalPages].map(page => `&page=${page}`)
      for (const page of new Set(pages)) {
        const rounds: number[] = []
        for (let round = 0; round < Number(values.rounds); round++)
          rounds.push((await client.send({ path: path + page }, viewer.key)).ms)
        const ms = rounds.sort((a, b) => a - b)[Math.floor(rounds.length / 2)]!
        times.push({ name: `${name}${page && `, page ${page.slice(6)}`} for ${viewer.name}`, ms })
      }
    }
  times.sort((a, b) => a.ms - b.ms)
  const p95 = times[Math.floor(times.length * 0.95)]!.ms
  const median = times[times.length >> 1]!.ms
  print({ lists: times.length, medianMs: rounded(median), p95Ms: rounded(p95) })
  for (const { name, ms } of times.slice(-8)) print({ slow: name, ms: rounded(ms) })
  if (p95 > maxListMs) failures.push(`p95 of lists ${p95.toFixed(1)} ms`)
}

async function measurePoll(source: { id: string }) {
  const viewers = await gridViewers(sql)
  const series = await sql<Tracked[]>`
    select s.id, s.title, s.library_id as "libraryId" from series_tracking t
    join series s on s.id = t.series_id where t.tracked`
  let isReading = true
  let requests = 0
  const read = async (i: number) => {
    const own = openClient(base)
    const paths = ['/releases', '/series?pageSize=50', '/books?pageSize=50', '/releases/facets']
    while (isReading) {
      await own.send({ path: paths[requests++ % paths.length]! }, viewers[i % viewers.length]!.key)
      await sleep(100)
    }
    own.close()
  }
  const reading = Promise.all(Array.from({ length: readers }, (_, i) => read(i)))
  const times: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const items = itemsOf(series, `poll-${round}-${Date.now()}`)
    const before = await countReleases(sql)
    const started = performance.now()
    await pollItems(sql, source.id, items)
    times.push(performance.now() - started)
    const added = (await countReleases(sql)) - before
    if (added < perPoll * 0.9) failures.push(`only ${added} of ${perPoll} were added`)
    await sleep(200)
  }
  isReading = false
  await reading
  times.sort((a, b) => a - b)
  const median = times[times.length >> 1]!
  print({ pollOf: perPoll, readers, requests, ms: times.map(rounded) })
  if (median > maxPollMs) failures.push(`poll ${median.toFixed(0)} ms`)
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10
}
