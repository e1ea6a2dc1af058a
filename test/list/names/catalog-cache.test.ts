// What is read of a whole catalog: once for each version, and less often while it changes all the time; never what was hidden
// since.
import t from 'tap'
import { serverViewer } from '../../../lib/accounts/viewer.ts'
import { newId } from '../../../lib/base/id.ts'
import { createCatalogCache } from '../../../lib/list/catalog-cache.ts'
import { createDatabase } from '../../kit/db.ts'
import { insertBooks } from '../../kit/reading.ts'

const { sql } = await createDatabase(t)
const series = [await insertBooks(sql, [1, 2]), await insertBooks(sql, [1])]
const ids = series.map(one => one.series)
const change = () => sql`update series set publisher = publisher || 'x', one_shot = not one_shot`
const tag = newId()
await sql`insert into sharing_tag (id, name) values (${tag}, 'hidden')`
const restricted = { ...serverViewer, deniedTags: [tag] }

/** As if every reading took long. */
const long = { pause: Number.POSITIVE_INFINITY, minPausedMs: 0 }

/** Counts how often it was read. */
function counted(pauses: { pause?: number; minPausedMs?: number }, mayBeOld = true) {
  const cached = createCatalogCache(pauses)
  let count = 0
  return (viewer: typeof serverViewer) =>
    cached(sql, viewer, {
      name: 'names',
      read: async () => [String(++count)],
      textsOf: texts => texts,
      mayBeOld,
    })
}

t.test('it is read once for a version and all that see the same', async t => {
  const read = counted({})
  const other = { ...serverViewer, accountId: newId() }
  t.same(await Promise.all([read(serverViewer), read(other)]), [['1'], ['1']])
  t.same(await read(other), ['1'])
  await change()
  t.same(await read(serverViewer), ['2'])
  t.same(await read(restricted), ['3'])
})

t.test('what takes long is read less often', async t => {
  const read = counted(long)
  t.same(await read(serverViewer), ['1'])
  t.same(await read(restricted), ['2'])
  await change()
  t.same([await read(serverViewer), await read(restricted)], [['1'], ['2']])
})

t.test('what must be of the current version is read after each change', async t => {
  const read = counted(long, false)
  t.same(await read(serverViewer), ['1'])
  t.same(await read(serverViewer), ['1'])
  await change()
  t.same(await read(serverViewer), ['2'])
})

t.test('something that is hidden is noticed at once', async t => {
  const read = counted(long)
  await read(serverViewer)
  t.same(await read(restricted), ['2'])
  await sql`insert into series_sharing_tag (series_id, tag_id) values (${ids[0]!}, ${tag})`
  t.same([await read(serverViewer), await read(restricted)], [['1'], ['3']])
  // Another series in its place.
  await sql`update series_sharing_tag set series_id = ${ids[1]!}`
  t.same(await read(restricted), ['4'])
})

t.test('a book beyond the age limit is noticed at once', async t => {
  const read = counted(long)
  const child = { ...serverViewer, ageLimit: 12 }
  t.same(await read(child), ['1'])
  await sql`update book set age_rating = 18 where id = (select id from book limit 1)`
  t.same(await read(child), ['2'])
})
