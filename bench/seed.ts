// Generator of a synthetic catalog in a fresh data directory, the same on every run.
// npm run bench -- seed --data DIR [--database-url URL] [--books 1000000] [--series 40000] [--progress 100000]
import { parseArgs } from 'node:util'
import { newId } from '../lib/base/id.ts'
import { refreshAuthorKeys } from '../lib/catalog/derived/author-key.ts'
import { refreshBooksMetadata } from '../lib/catalog/derived/books-metadata.ts'
import { refreshFirstRelease } from '../lib/releases/first-release.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase, type Sql } from '../lib/store/postgres/db.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { createRandom } from '../test/kit/random.ts'
import { print } from './kit/stackroom.ts'
import { makeLabels, makeSeries, type SeriesMade, tables } from './seed/catalog.ts'
import { dropIndexes, openCopies } from './seed/copy.ts'
import { makePersonal } from './seed/personal.ts'
import { makeReaders } from './seed/readers.ts'
import { vocabulary } from './seed/words.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    'database-url': { type: 'string' },
    books: { type: 'string', default: '1000000' },
    series: { type: 'string', default: '40000' },
    progress: { type: 'string', default: '100000' },
  },
})
const [books, seriesCount, heavy] = [values.books, values.series, values.progress].map(Number) as [
  number,
  number,
  number,
]
const config = loadConfig({
  env: {},
  flags: { data_dir: values.data, 'database.url': values['database-url'] },
})
const { sql, close } = await openDatabase(config)
const started = performance.now()
try {
  await migrate(sql)
  const [row] = await sql`select exists (select from library) as full`
  if (row!.full) throw new Error('The database is not empty')
  const definitions = await dropIndexes(sql, [...Object.keys(tables), 'progress'])
  const series = await fill(sql)
  note('rows')
  await count(sql)
  note('counters')
  for (const definition of definitions) {
    await sql.begin(async tx => {
      await tx`set local maintenance_work_mem = '1GB'`
      await tx.unsafe(definition)
    })
  }
  note('indexes')
  const ids = series.map(row => row.id)
  await refreshAuthorKeys(sql, ids)
  await refreshFirstRelease(sql, ids)
  await refreshBooksMetadata(sql, ids)
  note('authors')
  await makeReaders(sql, createRandom(2), { series, heavy })
  await readings(sql)
  await makePersonal(sql, 5_000)
  note('readers')
  await sql`vacuum analyze`
  note('vacuum')
} catch (error) {
  // A COPY that was broken off does not end by itself.
  process.stderr.write(`${(error as Error).stack}\n`)
  process.exitCode = 1
} finally {
  await close()
}

async function fill(sql: Sql): Promise<SeriesMade[]> {
  const random = createRandom(1)
  const libraries = ['Comics', 'Manga', 'Books'].map(name => ({
    id: newId(),
    name,
    root: Buffer.from(`/seed/${name}`),
  }))
  await sql`insert into library ${sql(libraries)}`
  const copies = await openCopies(sql, tables)
  const making = { random, words: vocabulary(random), copies, labels: new Map<string, string>() }
  await makeLabels(making)
  const made: SeriesMade[] = []
  let left = books
  for (let i = 0; i < seriesCount; i++) {
    const mean = left / (seriesCount - i)
    // One to twice the mean, evenly; a few series are ten times as long.
    const wanted = random.chance(0.01) ? mean * 10 : mean * 2 * random.next() * 0.91
    const many =
      i === seriesCount - 1
        ? left
        : Math.min(Math.max(1, Math.round(wanted)), left - (seriesCount - 1 - i))
    left -= many
    made.push(await makeSeries(making, libraries[i % 3]!.id, many))
  }
  await copies.end()
  return made
}

async function count(sql: Sql) {
  await sql`
    update library l
    set series_count = t.series, book_count = t.books, page_count = t.pages, size = t.size,
      missing_count = (select count(*) from book b where b.library_id = l.id and b.missing_at is not null)
    from (
      select library_id, count(*) filter (where book_count > 0) as series, sum(book_count) as books,
        sum(page_count) as pages, sum(size) as size
      from series group by library_id
    ) t
    where t.library_id = l.id`
}

async function readings(sql: Sql) {
  await sql`analyze progress`
  await sql`
    insert into series_reading (account_id, series_id, read_count, started_count, opened_count,
      last_read_at, last_completed_at)
    select p.account_id, b.series_id, count(*) filter (where p.is_completed),
      count(*) filter (where not p.is_completed),
      count(*) filter (where not p.is_completed and p.current_page > 0),
      max(p.updated_at), max(p.completed_at)
    from progress p
    join book b on b.id = p.book_id
    where b.missing_at is null
    group by p.account_id, b.series_id`
}

function note(step: string) {
  print({ step, seconds: Math.round((performance.now() - started) / 100) / 10 })
}
