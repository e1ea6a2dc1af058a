// Latency of the Komga-compatible lists as Komga's web interface requests them, over a seeded database, for three
// kinds of viewer. Exits with 1 when a list is over its bound or fails. The accounts of the database are changed.
// npm run bench -- komga-lists --data DIR [--rounds 20]
import { parseArgs } from 'node:util'
import { openApi } from '../../lib/api/open.ts'
import { openLog } from '../../lib/base/log.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase } from '../../lib/store/postgres/db.ts'
import { openQueue } from '../../lib/store/queue/queue.ts'
import { gridViewers } from '../grid/viewers.ts'
import { print } from '../kit/stackroom.ts'

const { values } = parseArgs({
  options: { data: { type: 'string' }, rounds: { type: 'string', default: '20' } },
})
const maxMs = 80
const rounds = Number(values.rounds)
const flags = { data_dir: values.data, 'rate_limit.enabled': false, 'application.port': 0 }
const config = loadConfig({ env: {}, flags })
const database = await openDatabase(config)
const { sql } = database
const queue = await openQueue(sql, () => {})
const api = await openApi({ sql, config, queue, log: openLog({ level: 'fatal' }) })
const base = await api.server.listen({ host: '127.0.0.1', port: 0 })

try {
  const viewers = await gridViewers(sql)
  await send('/api/v1/admin/settings/bulk', viewers[0]!.key, {
    updates: [{ key: 'komga.enabled', value: true }],
  })
  const lists = await listsOfWebInterface()
  // The lists are read from memory some seconds after the first slow one.
  for (const { key } of viewers) for (const { path, body } of lists) await send(path, key, body)
  for (const viewer of viewers)
    for (const { name, path, body } of lists) {
      const times: number[] = []
      for (let round = 0; round < rounds; round++) {
        const started = performance.now()
        await send(path, viewer.key, body)
        times.push(performance.now() - started)
      }
      times.sort((a, b) => a - b)
      const [p50, p95] = [0.5, 0.95].map(share => times[Math.ceil(share * rounds) - 1]!) as [
        number,
        number,
      ]
      print({ viewer: viewer.name, list: name, p50: Math.round(p50), p95: Math.round(p95) })
      if (p95 > maxMs) process.exitCode = 1
    }
} finally {
  await api.close()
  await queue.close()
  await database.close()
}

async function send(path: string, key: string, body?: object) {
  const response = await fetch(base + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} from ${path}: ${text.slice(0, 300)}`)
  return text
}

/** The dashboard, a library with filters, a series, and deep pages of both. */
async function listsOfWebInterface() {
  const [ids] = await sql<{ library: string; series: string; genre: string; tag: string }[]>`
    select (select id from library order by book_count desc limit 1) as library,
      (select id from series order by book_count desc limit 1) as series,
      (select genres[1] from series where genres <> '{}' order by id limit 1) as genre,
      (select tags[1] from series where tags <> '{}' order by id limit 1) as tag`
  const { library, series, genre, tag } = ids!
  const is = (field: string, value: unknown) => ({ [field]: { operator: 'is', value } })
  const inLibrary = is('libraryId', library)
  const present = { deleted: { operator: 'isFalse' } }
  const all = (...allOf: object[]) => ({ condition: { allOf } })
  const list = (kind: 'series' | 'books', query: string, body: object) => ({
    name: `${kind}/list ${query} ${JSON.stringify(body)}`,
    path: `/komga/api/v1/${kind}/list?${query}`,
    body,
  })
  const get = (path: string) => ({ name: path, path: `/komga/api/v1/${path}`, body: undefined })
  const unread = { anyOf: [is('readStatus', 'UNREAD'), is('readStatus', 'IN_PROGRESS')] }
  return [
    list('books', 'sort=readProgress.readDate,desc&size=20', all(is('readStatus', 'IN_PROGRESS'))),
    list('books', 'sort=createdDate,desc&size=20', all(inLibrary)),
    list('books', 'sort=metadata.releaseDate,desc&size=20', all(inLibrary, present)),
    list('books', 'sort=readProgress.readDate,desc&size=20', all(is('readStatus', 'READ'))),
    list('books', 'sort=metadata.numberSort,asc&size=20', all(is('seriesId', series))),
    list('books', 'sort=metadata.title,asc&page=1000&size=20', all(inLibrary)),
    list('series', 'sort=metadata.titleSort,asc&size=20', all(inLibrary, present)),
    list('series', 'sort=metadata.titleSort,asc&page=300&size=20', all(inLibrary)),
    list('series', 'sort=createdDate,desc&size=20', all(inLibrary, is('tag', tag))),
    list('series', 'sort=lastModifiedDate,desc&size=20', all(is('genre', genre), unread)),
    list('series', 'sort=metadata.titleSort,asc&size=20', {
      ...{ fullTextSearch: 'the' },
      ...all(inLibrary),
    }),
    get('books/ondeck?size=20'),
    get('series/new?size=20'),
    get('series/updated?size=20'),
    get('genres'),
    get('authors?search=a'),
  ]
}
