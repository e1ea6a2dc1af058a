// Lists, conditions and searches over a seeded database: time with the records of the page read, the
// totals against plain counts, and every statement's plan for sequential scans of book and series.
// Linux only, for the time on the processor.
// npm run bench -- lists --data DIR [--rounds 20] [--only TEXT]
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Viewer } from '../lib/auth/viewer.ts'
import { booksByIds } from '../lib/catalog/book/book-record.ts'
import { parseBookFilter, parseSeriesFilter } from '../lib/catalog/list/condition.ts'
import { listBooks } from '../lib/catalog/list/list-books.ts'
import { listSeries } from '../lib/catalog/list/list-series.ts'
import type { BookSort, SeriesSort } from '../lib/catalog/list/sort.ts'
import { seriesByIds } from '../lib/catalog/series/series-record.ts'
import { loadConfig } from '../lib/config/config.ts'
import { connect, openDatabase } from '../lib/postgres/db.ts'
import { print } from './kit/stackroom.ts'
import { countBooks, countSeries } from './lists/counts.ts'
import { findScans } from './lists/plans.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    rounds: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
  },
})
const config = loadConfig({ env: {}, flags: { data_dir: values.data } })
const database = await openDatabase(config)
/** Statements as they were sent, for their plans. */
const sent: { text: string; values: unknown[] }[] = []
const sql = connect(database.url, { max: 1 })
sql.options.debug = (_: number, text: string, values: unknown[]) => sent.push({ text, values })

const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`

/** Milliseconds that this process and its database session were at work: what a busy machine does not change. */
function onProcessor(): number {
  const { user, system } = process.cpuUsage()
  const [ns] = readFileSync(`/proc/${backend!.pid}/schedstat`, 'utf8').split(' ')
  return (user + system) / 1e3 + Number(ns) / 1e6
}

type Case = {
  name: string
  limitMs: number
  run: () => Promise<{ total: number; ids: string[] }>
  /** What the total must be, where it is not in question. */
  count?: () => Promise<number>
}

try {
  const accounts = await sql<{ id: string }[]>`
    select account_id as id from progress group by account_id order by count(*) desc limit 1`
  const viewer: Viewer = {
    accountId: accounts[0]!.id,
    libraries: null,
    allowedTags: [],
    deniedTags: [],
    ageLimit: null,
    showsUnrated: true,
  }
  const cases = [...orders(viewer), ...(await conditions(viewer)), ...(await searches(viewer))]
  for (const one of cases) if (one.name.includes(values.only)) await measure(one)
} finally {
  await sql.end({ timeout: 1 })
  await database.close()
}

async function measure({ name, limitMs, run, count }: Case) {
  const times: number[] = []
  const work: number[] = []
  let total = 0
  for (let round = 0; round < Number(values.rounds) + 3; round++) {
    const started = performance.now()
    const before = onProcessor()
    const answer = await run()
    if (round >= 3) {
      times.push(performance.now() - started)
      work.push(onProcessor() - before)
    }
    total = answer.total
  }
  sent.length = 0
  await run()
  const scans = await findScans(sql, [...sent])
  const at = (share: number, of = times) => {
    const sorted = of.toSorted((a, b) => a - b)
    return Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 10) / 10
  }
  const counted = count ? await count() : total
  print({
    name,
    total,
    p50: at(0.5),
    p95: at(0.95),
    cpu: at(0.5, work),
    cpu95: at(0.95, work),
    ...(at(0.95) > limitMs ? { slow: limitMs } : {}),
    ...(counted === total ? {} : { counted }),
    ...(scans.length > 0 ? { scans } : {}),
  })
}

function books(viewer: Viewer, options: Omit<Parameters<typeof listBooks>[2], 'pageSize'>) {
  return async () => {
    const page = await listBooks(sql, viewer, { ...options, pageSize: 50 })
    await booksByIds(sql, viewer, page.ids)
    return page
  }
}

function series(viewer: Viewer, options: Omit<Parameters<typeof listSeries>[2], 'pageSize'>) {
  return async () => {
    const page = await listSeries(sql, viewer, { ...options, pageSize: 50 })
    await seriesByIds(sql, viewer, page.ids)
    return page
  }
}

function orders(viewer: Viewer): Case[] {
  const bookSorts: BookSort[] = [
    'title',
    'number',
    'created',
    'updated',
    'modified',
    'released',
    'size',
    'pages',
    'filename',
    'series',
    'read',
  ]
  const seriesSorts: SeriesSort[] = [
    'title',
    'created',
    'updated',
    'year',
    'read',
    'books',
    'size',
    'filename',
    'pages',
  ]
  const directions = ['asc', 'desc'] as const
  const all = bookSorts.flatMap(sort =>
    directions.flatMap(direction =>
      [1, 100, 5_000, 19_900].map(page => ({
        name: `books ${sort} ${direction} ${page}`,
        limitMs: 60,
        run: books(viewer, { filter: null, sort, direction, page }),
      })),
    ),
  )
  const grouped = seriesSorts.flatMap(sort =>
    directions.flatMap(direction =>
      [1, 100, 800].map(page => ({
        name: `series ${sort} ${direction} ${page}`,
        limitMs: 60,
        run: series(viewer, { filter: null, sort, direction, page }),
      })),
    ),
  )
  return [...all, ...grouped]
}

async function conditions(viewer: Viewer): Promise<Case[]> {
  const names = async (kind: string) =>
    (
      await sql<{ name: string }[]>`
        select l.name from label l join series_label y on y.label_id = l.id
        where l.kind = ${kind} group by l.id order by count(*) desc`
    ).map(row => row.name)
  const [genres, tags] = [await names('genre'), await names('tag')]
  const is = (field: string, value: unknown) => ({ [field]: { operator: 'is', value } })
  const not = (field: string, value: unknown) => ({ [field]: { operator: 'isNot', value } })
  const [library] = await sql<{ id: string }[]>`select id from library order by name limit 1`
  const trees: Record<string, object> = {
    'genre common': is('genre', genres[0]),
    'genre rare': is('genre', genres.at(-1)),
    'tag rare': is('tag', tags.at(-1)),
    unread: is('readStatus', 'unread'),
    'in progress': is('readStatus', 'in_progress'),
    read: is('readStatus', 'read'),
    'not read, of a genre': { allOf: [not('readStatus', 'read'), is('genre', genres[2])] },
    'two levels': {
      allOf: [
        { anyOf: [is('genre', genres[1]), is('tag', tags[5])] },
        { anyOf: [is('readStatus', 'unread'), is('readStatus', 'in_progress')] },
        not('tag', tags[0]),
      ],
    },
    'two levels, all but': {
      anyOf: [
        { allOf: [not('genre', genres[0]), not('readStatus', 'read')] },
        { allOf: [is('readStatus', 'read'), { tag: { operator: 'contains', value: 'an' } }] },
      ],
    },
    'library and genre': { allOf: [is('libraryId', library!.id), is('genre', genres[3])] },
  }
  return Object.entries(trees).flatMap(([name, condition]): Case[] => [
    ...[undefined, 'created' as const, 'number' as const].map(sort => ({
      name: `books/list ${name}${sort ? ` by ${sort}` : ''}`,
      limitMs: 120,
      run: books(viewer, { filter: parseBookFilter(condition), sort, page: 1 }),
      ...(sort
        ? {}
        : { count: () => countBooks(sql, viewer, { filter: parseBookFilter(condition) }) }),
    })),
    {
      name: `series/list ${name}`,
      limitMs: 120,
      run: series(viewer, { filter: parseSeriesFilter(condition), page: 1 }),
      count: () => countSeries(sql, viewer, { filter: parseSeriesFilter(condition) }),
    },
  ])
}

async function searches(viewer: Viewer): Promise<Case[]> {
  const rows = await sql<{ title: string }[]>`
    select title from series where book_count > 0 order by id limit 3000`
  const latin = rows.map(row => row.title).filter(title => title.split(' ').length === 3)
  const han = rows.map(row => row.title).filter(title => /^[\u3040-\u9fff]{4,}$/.test(title))
  const word = (title: string, i: number) => title.split(' ')[i]!
  const queries: Record<string, string> = {
    'a title': latin[7]!,
    'two words': `${word(latin[11]!, 0)} ${word(latin[11]!, 2)}`,
    'a word': word(latin[13]!, 2),
    'another word': word(latin[40]!, 1),
    'beginning of a word': word(latin[17]!, 2).slice(0, 4),
    'title and number': `${latin[21]!} 3`,
    'two letters': 'ea',
    'two Han': han[3]!.slice(0, 2),
    'one Han': han[5]!.slice(1, 2),
    'a tag': (
      await sql<{ name: string }[]>`select name from label where kind = 'tag' offset 9 limit 1`
    )[0]!.name,
    nothing: 'qzxv',
    'the most common word': 'the',
  }
  return Object.entries(queries).flatMap(([name, text]): Case[] => [
    {
      name: `books search ${name} (${text})`,
      limitMs: 60,
      run: books(viewer, { filter: null, text, page: 1 }),
      count: () => countBooks(sql, viewer, { text }),
    },
    {
      name: `series search ${name} (${text})`,
      limitMs: 60,
      run: series(viewer, { filter: null, text, page: 1 }),
      count: () => countSeries(sql, viewer, { text }),
    },
  ])
}
