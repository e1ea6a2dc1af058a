// Latency of the lists of collections and read lists over HTTP on a seeded database (npm run bench -- seed), to
// which it adds 1,000 of each, for accounts that see everything and restricted ones.
// npm run bench -- groupings --data DIR [--rounds 30] [--only TEXT]
import { parseArgs } from 'node:util'
import { openApi } from '../../lib/api/open.ts'
import { openLog } from '../../lib/base/log.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase, type Sql } from '../../lib/store/postgres/db.ts'
import { openQueue } from '../../lib/store/queue/queue.ts'
import { openClient } from '../grid/client.ts'
import { gridViewers } from '../grid/viewers.ts'
import { print } from '../kit/stackroom.ts'
import { makeGroupings, seeded } from './seed.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    rounds: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
  },
})
const limitsMs = { unrestricted: 60, others: 100 }
const flags = { data_dir: values.data, 'rate_limit.enabled': false, 'application.port': 0 }
const config = loadConfig({ env: {}, flags })
const database = await openDatabase(config)
const { sql } = database
await makeGroupings(sql)
const queue = await openQueue(sql, () => {})
const api = await openApi({ sql, config, queue, log: openLog({ level: 'error' }) })
const base = await api.server.listen({ host: '127.0.0.1', port: 0 })
const client = openClient(base)
let slow = 0

try {
  for (const { name: viewer, key } of await gridViewers(sql))
    for (const path of await pathsOf(sql)) {
      if (!`${viewer} ${path}`.includes(values.only)) continue
      const times: number[] = []
      let text = ''
      for (let round = 0; round < Number(values.rounds) + 2; round++) {
        const received = await client.send({ path }, key)
        if (![200, 404].includes(received.status)) throw new Error(`${path} ${received.text}`)
        text = received.text
        if (round > 1) times.push(received.ms)
      }
      const [p50, p95] = [at(times, 0.5), at(times, 0.95)]
      const limitMs = viewer === 'unrestricted' ? limitsMs.unrestricted : limitsMs.others
      if (p95 > limitMs) slow += 1
      const total = Number(/"total":(\d+)/.exec(text)?.[1] ?? -1)
      const isSlow = p95 > limitMs ? { slow: limitMs } : {}
      print({ viewer, path, total, kb: Math.round(text.length / 1024), p50, p95, ...isSlow })
    }
  print({ slow, ...seeded })
} finally {
  client.close()
  await api.close()
  await queue.close()
  await database.close()
}

async function pathsOf(sql: Sql): Promise<string[]> {
  const ids = async (query: Promise<readonly { id: string }[]>) => (await query).map(row => row.id)
  const [largest, ...some] = await ids(sql`
    select collection_id as id from collection_series group by 1 order by count(*) desc limit 3`)
  const ordered = await ids(sql`
    select c.id from collection c join collection_series m on m.collection_id = c.id
    where c.is_ordered group by 1 order by count(*) desc limit 1`)
  const ruled = await ids(sql`select id from collection where rule is not null order by id limit 6`)
  const readLists = await ids(sql`
    select read_list_id as id from read_list_book group by 1 order by count(*) desc limit 2`)
  const members = await sql<{ series: string; book: string }[]>`
    select (select series_id from collection_series group by 1 order by count(*) desc limit 1) as series,
      (select book_id from read_list_book group by 1 order by count(*) desc limit 1) as book`
  const { series, book } = members[0]!
  const page = 'page=1&pageSize=50'
  return [
    ...['/collections', '/readlists'].flatMap(path => [
      ...[path, `${path}?page=11&pageSize=50`, `${path}?search=an`, `${path}?pageSize=500`],
    ]),
    ...[largest!, ...some, ...ordered, ...ruled].flatMap(id => [
      `/collections/${id}`,
      `/collections/${id}/series?${page}`,
    ]),
    ...['title', 'added', 'year', 'manual'].flatMap(sort => [
      `/collections/${largest}/series?${page}&sort=${sort}`,
      `/collections/${largest}/series?page=200&pageSize=50&sort=${sort}&direction=desc`,
    ]),
    ...readLists.flatMap(id => [`/readlists/${id}`, `/readlists/${id}/books?${page}`]),
    `/readlists/${readLists[0]}/books?page=20&pageSize=50&sort=release`,
    `/series/${series}/collections`,
    `/books/${book}/readlists`,
    `/series?${page}`,
  ]
}

function at(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 10) / 10
}
