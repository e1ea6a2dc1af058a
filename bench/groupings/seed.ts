// Generator of collections and read lists over a seeded catalog, the same on every run; does nothing if some exist.
import { newId } from '../../lib/base/id.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { createRandom, type Random } from '../../test/kit/random.ts'

export const seeded = { collections: 1_000, rules: 50, readLists: 1_000, largest: 20_000 }

/** The n-th largest collection has a share of the largest one, so that most are small. */
const sizeOf = (n: number) => Math.max(3, Math.round(seeded.largest / (n + 1)))
const sizeOfList = (n: number) => Math.max(5, Math.round(5_000 / (n + 1)))

export async function makeGroupings(sql: Sql): Promise<void> {
  const [row] = await sql`select exists (select from collection) as full`
  if (row!.full) return
  const random = createRandom(7)
  const rules = await rulesOver(sql, random)
  const collections = Array.from({ length: seeded.collections }, (_, i) => {
    const name = `${random.pick(['Best of', 'Year', 'Shelf', 'Event', 'Universe'])} ${i}`
    const rule = i >= seeded.collections - seeded.rules ? rules.pop()! : null
    return {
      id: newId(),
      name,
      name_key: sortKey(name),
      is_ordered: rule === null && i % 3 === 0,
      rule,
    }
  })
  const readLists = Array.from({ length: seeded.readLists }, (_, i) => {
    const name = `Reading order ${random.below(10_000)} ${i}`
    return { id: newId(), name, name_key: sortKey(name), is_ordered: i % 2 === 0 }
  })
  await sql`
    insert into collection (id, name, name_key, is_ordered, rule)
    select * from jsonb_to_recordset(${sql.json(collections as never)})
      as r(id uuid, name text, name_key text, is_ordered boolean, rule jsonb)`
  await sql`insert into read_list ${sql(readLists)}`
  const handPicked = collections.filter(({ rule }) => rule === null)
  for (const [n, { id }] of handPicked.entries())
    await sql`
      insert into collection_series (collection_id, series_id, position)
      select ${id}, id, row_number() over () from (
        select id from series order by md5(id::text || ${String(n)}) limit ${sizeOf(n)}) s`
  for (const [n, { id }] of readLists.entries())
    await sql`
      insert into read_list_book (read_list_id, book_id, position)
      select ${id}, b.id, row_number() over (order by b.number_sort, b.id) from (
        select id from series order by md5(id::text || ${`list ${n}`})
        limit ${Math.ceil(sizeOfList(n) / 20)}) s
      join book b on b.series_id = s.id
      limit ${sizeOfList(n)}`
  await sql`vacuum analyze collection, collection_series, read_list, read_list_book`
}

/** Rules on labels, publishers, years, states and reading, alone and together; some match nothing. */
async function rulesOver(sql: Sql, random: Random) {
  const labels = await sql<{ kind: string; name: string }[]>`
    select kind, name from label order by md5(id::text) limit 60`
  const publishers = await sql<{ name: string }[]>`
    select distinct publisher as name from series where publisher is not null limit 200`
  const is = (value: string) => ({ operator: 'is', value })
  const label = () => {
    const { kind, name } = random.pick([...labels])
    return { [kind]: is(name) }
  }
  const year = () => {
    const min = 1980 + random.below(40)
    return { year: { operator: 'between', min, max: min + 3 } }
  }
  const publisher = () => ({ publisher: is(random.pick([...publishers]).name) })
  const status = () => ({ status: is(random.pick(['ended', 'ongoing', 'hiatus'])) })
  const unread = () => ({ readStatus: is(random.pick(['unread', 'in_progress', 'read'])) })
  const word = () => ({
    title: { operator: 'contains', value: random.pick(['an', 'or', 'zzz', 'st']) },
  })
  const leaves = [label, year, publisher, status, unread, word]
  return Array.from({ length: seeded.rules }, (_, i) => {
    const parts = Array.from({ length: 1 + (i % 3) }, () => random.pick(leaves)())
    return i % 4 === 3 ? { anyOf: parts } : { allOf: parts }
  })
}
