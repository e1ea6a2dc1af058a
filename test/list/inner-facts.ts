// More data of a random catalog, for the fields that only other grammars than the native one have, and predicates on them.
import type { Sql } from 'postgres'
import { newId } from '../../lib/base/id.ts'
import { refreshAuthorKeys } from '../../lib/catalog/derived/author-key.ts'
import { refreshBookSearch, refreshSeriesSearch } from '../../lib/catalog/derived/search-rows.ts'
import type { Predicate } from '../../lib/list/condition.ts'
import type { Random } from '../kit/random.ts'
import type { Facts } from './catalog-facts.ts'

export type Groupings = { collections: string[]; readLists: string[] }

const names = ['Akira Toriyama', 'Émile Zola', '尾田', 'Zola Writer']
const roles = ['writer', 'Penciller', 'cover', null]

export async function addInnerFacts(sql: Sql, facts: Facts, random: Random): Promise<Groupings> {
  const { below, pick } = random
  for (const { id } of facts.books) {
    const authors = Array.from({ length: below(3) }, () => {
      const role = pick(roles)
      return { name: pick(names), ...(role ? { role } : {}) }
    })
    await sql`
      update book set authors = ${sql.json(authors)},
        isbn = ${below(4) === 0 ? `97800000${10 + below(90)}` : null},
        error_code = ${below(6) === 0 ? pick(['io', 'encrypted']) : null},
        volume_sort = ${below(3) === 0 ? below(3) : null},
        custom_cover = ${below(5) === 0 ? Buffer.from('aa') : null}
      where id = ${id}`
  }
  for (const { id } of facts.series) {
    await sql`
      update series set one_shot = ${below(3) === 0}, reading_direction = ${pick(['ltr', 'rtl', null])},
        summary = ${below(2) === 0 ? 'A sum of a Naruto' : null},
        updated_at = case when ${below(2) === 0} then created_at else now() end,
        released = (select min(b.released) from book b
          where b.series_id = ${id} and b.missing_at is null and b.year > 0)
      where id = ${id}`
    if (below(4) === 0)
      await sql`insert into series_tracking (series_id, tracked) values (${id}, ${below(2) === 0})`
    if (below(4) === 0)
      await sql`
        insert into external_reference (kind, series_id, source, external_id)
        values ('id', ${id}, 'anilist', ${String(below(99))})`
  }
  const collections = [newId(), newId()]
  const readLists = [newId(), newId()]
  const members = <Item>(items: Item[]) => items.filter(() => below(3) === 0)
  for (const id of collections) {
    await sql`insert into collection (id, name, name_key) values (${id}, ${id}, ${id})`
    for (const [i, one] of members(facts.series).entries())
      await sql`
        insert into collection_series (collection_id, series_id, position) values (${id}, ${one.id}, ${i})`
  }
  for (const id of readLists) {
    await sql`insert into read_list (id, name, name_key) values (${id}, ${id}, ${id})`
    for (const [i, one] of members(facts.books).entries())
      await sql`
        insert into read_list_book (read_list_id, book_id, position) values (${id}, ${one.id}, ${i})`
  }
  const series = facts.series.map(({ id }) => id)
  await sql.begin(async tx => {
    await refreshAuthorKeys(tx, series)
    await refreshBookSearch(
      tx,
      facts.books.map(({ id }) => id),
    )
    await refreshSeriesSearch(tx, series)
  })
  return { collections, readLists }
}

type Test = Predicate['test']

/** Tests of each inner field of books and of series, some of them. */
export function innerTests({ collections, readLists }: Groupings, { below, pick }: Random) {
  const text = (...values: string[]): Test => ({
    ...{ kind: 'text', operator: pick(['equals', 'contains', 'beginsWith', 'endsWith']) },
    value: pick(values),
  })
  const number = (max: number): Test => ({
    ...{ kind: 'compare', operator: pick(['=', '<', '<=', '>', '>=']), value: below(max) },
  })
  const date = (): Test => ({
    ...{ kind: 'compare', operator: pick(['<', '<=', '>', '>=']) },
    value: new Date(Date.UTC(1990 + below(6), below(4))),
  })
  const flag = (): Test => ({ kind: 'boolean', value: below(2) === 0 })
  const credit = (): Test => ({
    ...{ kind: 'credit', operator: pick(['equals', 'contains']) },
    ...{
      name: pick([...names, 'zola', 'writer', null]),
      role: pick(['writer', 'penciller', null]),
    },
  })
  const none: Test = { kind: 'null' }
  const book: Record<string, () => Test> = {
    credit,
    errorCode: () => pick([none, { kind: 'words', words: ['io'] } as const, text('io', 'c')]),
    isbn: () => pick([none, text('9780000012', '97', '1')]),
    isMissing: flag,
    numberSort: () => pick([none, number(10)]),
    oneShot: flag,
    ownTag: () => pick([none, text('long', 'classic', 'o')]),
    poster: () => ({
      ...{ kind: 'poster', source: pick(['generated', 'uploaded', null]) },
      isSelected: pick([true, false, null]),
    }),
    readListId: () => ({ kind: 'ids', ids: [pick(readLists)] }),
    text: () => text('naruto', 'one', 'zola', '!', '1'),
    inReadList: flag,
    inCollection: flag,
    title: () => ({ kind: 'pattern', pattern: 'n[aeo]' }),
  }
  const series: Record<string, () => Test> = {
    anyTag: () => pick([none, text('long', 'classic', 'o')]),
    collectionId: () => ({ kind: 'ids', ids: [pick(collections)] }),
    complete: flag,
    credit,
    firstRelease: () => pick([none, date()]),
    isMissing: flag,
    isUnchanged: flag,
    text: () => text('naruto', 'one', 'zola', '!', 'classic'),
    totalBookCount: () => pick([none, number(10)]),
    oneShot: flag,
    isTracked: flag,
    hasExternalSourceId: flag,
    inCollection: flag,
    readingDirection: () => pick([none, { kind: 'words', words: ['ltr'] } as const]),
    summary: () => pick([none, text('sum', 'naruto')]),
    publisher: () => ({ kind: 'pattern', pattern: 'v[ix]' }),
  }
  return { book, series }
}
