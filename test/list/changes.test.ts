// What a write makes stale (the rules at the end of sql/0001_baseline.sql): a write to a column changes the version of every
// list that reads it. Columns whose writes make no list stale are declared.
import t from 'tap'
import { unrestrictedViewer, type Viewer } from '../../lib/accounts/viewer.ts'
import { createDatabase } from '../kit/db.ts'
import { createRandom } from '../kit/random.ts'
import { makeFacts, storeFacts } from './catalog-facts.ts'
import { readersOf } from './column-readers.ts'
import { dropConstraints, type Effects, effectsOf, rolledBack, writesOf } from './column-writes.ts'
import { addInnerFacts, innerTests } from './inner-facts.ts'

/** A trigger writes them in the statement that changes the book, which is noted. */
const copies = [
  'book_search.series_id',
  'book_search.is_present',
  'book_search.sort_key',
  'book_summary',
  'read_list_book.series_id',
  'read_list_book.age_rating',
  'read_list_book.is_present',
]

const irrelevant = {
  'no list reads it': [
    ...['library_id', 'parent_id', 'digest', 'sidecars', 'artwork_due', 'pending_digest'].map(
      column => `directory.${column}`,
    ),
    ...['track_chapters', 'track_volumes', 'latest_known_chapter', 'latest_known_volume'].map(
      column => `series_tracking.${column}`,
    ),
    ...['volume_chapter_map', 'poll_interval_override_s', 'confidence_threshold_override'].map(
      column => `series_tracking.${column}`,
    ),
    ...['languages', 'created_at', 'updated_at'].map(column => `series_tracking.${column}`),
    ...['description', 'created_at', 'updated_at'].map(column => `sharing_tag.${column}`),
    ...['label.created_at', 'collection_series.added_at', 'read_list_book.added_at'],
  ],
  'each list reads it again': [
    ...['book_artifact', 'cover', 'collection'],
    ...['collection_series.position', 'read_list_book.position'],
  ],
  'rows that refer to it are deleted before it, and inserted after it': [
    ...['insert directory', 'delete directory', 'insert sharing_tag', 'delete sharing_tag'],
  ],
}
const declared = [...copies, ...Object.values(irrelevant).flat()]
/** Also by the table. */
const isIn = (names: string[], write: string) =>
  names.includes(write) || names.includes(write.replace(/^(insert|delete) |\..*/, ''))

const { sql } = await createDatabase(t)
const facts = makeFacts(71, 12)
await storeFacts(sql, facts)
const random = createRandom(71)
const inner = innerTests(await addInnerFacts(sql, facts, random), random)
const book = facts.books[0]!.id
await sql`insert into book_artifact (book_id) values (${book})`
await sql`
  insert into cover (id, book_id, source, hash, original)
  values (gen_random_uuid(), ${book}, 'user', 'hash', 'original')`
await dropConstraints(sql)

const everyone = unrestrictedViewer(facts.accounts[0]!)
const restricted: Viewer = {
  ...{ ...everyone, libraries: facts.libraries, ageLimit: 12, showsUnrated: false },
  ...{ allowedTags: [facts.sharingTags.kids!], deniedTags: [facts.sharingTags.adult!] },
}

t.test('a write to a column makes every list stale that reads it', async t => {
  const readers = [everyone, restricted].map(viewer => readersOf({ sql, viewer, inner }))
  const read = (await Promise.all(readers)).flat()
  const columns = new Set(read.flatMap(reader => reader.columns))
  const tables = [...new Set([...columns].map(column => column.split('.')[0]!))].toSorted()
  const writes = (await Promise.all(tables.map(table => writesOf(sql, table)))).flat()
  const written = new Map<string, Effects>()
  for (const write of writes) written.set(write.name, await effectsOf(sql, write))
  const unnoted = [...written].filter(([, { effects }]) => effects.length === 0)
  const names = unnoted.map(([name]) => name)
  t.same(
    names.filter(name => !isIn(declared, name)),
    [],
    'all others are declared',
  )
  t.same(
    declared.filter(name => !names.some(write => isIn([name], write))),
    [],
    'only these are declared',
  )
  const missed = read.flatMap(({ name, columns, follows }) =>
    columns
      .filter(column => !isIn(copies, column))
      .filter(column => !follows?.some(one => written.get(column)!.effects.includes(one)))
      .map(column => (follows ? `${name}: ${column}` : '')),
  )
  t.same([...new Set(missed.filter(Boolean))], [], 'made known to all that read them')
  t.comment(`${read.length} readers of ${columns.size} columns, ${writes.length} writes`)
})

t.test('a row that changes hands is noted for both', async t => {
  for (const name of [
    ...['progress', 'series_reading', 'want_to_read', 'user_rating'].map(
      table => `${table}.account_id`,
    ),
    ...['series_label.series_id', 'series_sharing_tag.series_id', 'book_search.book_id'],
  ]) {
    const writes = await writesOf(sql, name.split('.')[0]!)
    const { ids } = await effectsOf(sql, writes.find(write => write.name === name)!)
    t.equal(ids.length, 2, name)
  }
})

t.test('a statement is noted once, if it changes a row', async t => {
  const notedBy = (statement: string) =>
    rolledBack(sql, async tx => {
      await tx`delete from list_change`
      await tx.unsafe(statement)
      const noted = await tx<{ subject: string; books: number | null; series: number | null }[]>`
        select subject, cardinality(books) as books, cardinality(series) as series
        from list_change order by subject, books`
      return [...noted]
    })
  const { length } = facts.books
  const all = { subject: 'book', books: length, series: null }
  t.strictSame(await notedBy('update book set size = size + 1'), [all])
  t.strictSame(await notedBy('update book set size = size + 1 where false'), [])
  t.strictSame(await notedBy('update book_search set text = text, sort_key = sort_key'), [])
  t.strictSame(await notedBy('update label set spellings = spellings'), [])
  t.strictSame(await notedBy('delete from label'), [
    { subject: 'book', books: 0, series: null },
    { subject: 'label', books: 0, series: null },
    { subject: 'series', books: 0, series: null },
  ])
  const many = `insert into book_search (book_id, series_id, is_present, sort_key, text)
    select gen_random_uuid(), gen_random_uuid(), true, '', '' from generate_series(1, 10001)`
  t.strictSame(await notedBy(many), [{ ...all, books: null }], 'too many to be named')
})
