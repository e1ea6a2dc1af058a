// Facts of a random catalog for fields that only conditions of the compatible API have.
import type { Sql } from 'postgres'
import { newId } from '../../../../lib/base/id.ts'
import { refreshAuthorKeys } from '../../../../lib/catalog/derived/author-key.ts'
import { refreshBooksMetadata } from '../../../../lib/catalog/derived/books-metadata.ts'
import { refreshLowestAge } from '../../../../lib/catalog/derived/lowest-age.ts'
import { refreshFirstRelease } from '../../../../lib/releases/first-release.ts'
import { createRandom } from '../../../kit/random.ts'
import { type Facts, makeFacts, storeFacts } from '../../../list/catalog-facts.ts'

export type Credit = { name: string; role: string | null }
export type KomgaFacts = Facts & {
  /** By id of the series. */
  oneShots: Set<string>
  /** Ids of series by collection, of books by read list. */
  collections: Map<string, Set<string>>
  readLists: Map<string, Set<string>>
  /** By id of the book. */
  credits: Map<string, Credit[]>
  errors: Map<string, string>
  /** Books without a format. */
  unread: Set<string>
  covers: Map<string, { isGenerated: boolean; uploaded: boolean[] }>
}

const names = ['Akira Toriyama', 'Émile Zola', '尾田', 'Writer']
const roles = ['writer', 'penciller', 'cover_artist', null, 'Traducteur']
const errorCodes = ['io', 'encrypted', 'unsupported_format']

/** The same for the same seed. */
export function makeKomgaFacts(seed: number, seriesCount: number): KomgaFacts {
  const facts = makeFacts(seed, seriesCount)
  const { below, pick, some } = createRandom(seed + 1)
  const groups = (ids: string[]) =>
    new Map([1, 2, 3].map(() => [newId(), new Set(ids.filter(() => below(4) === 0))]))
  return {
    ...facts,
    oneShots: new Set(facts.series.filter(() => below(4) === 0).map(s => s.id)),
    collections: groups(facts.series.map(s => s.id)),
    readLists: groups(facts.books.map(b => b.id)),
    credits: new Map(
      facts.books.map(b => [
        b.id,
        Array.from({ length: below(3) }, () => ({ name: pick(names), role: pick(roles) })),
      ]),
    ),
    errors: new Map(facts.books.filter(b => b.error).map(b => [b.id, pick(errorCodes)])),
    unread: new Set(facts.books.filter(() => below(9) === 0).map(b => b.id)),
    covers: new Map(
      facts.books.map(b => [
        b.id,
        { isGenerated: below(2) === 0, uploaded: some([true, false], 2).sort().slice(0, 1) },
      ]),
    ),
  }
}

export async function storeKomgaFacts(sql: Sql, facts: KomgaFacts): Promise<void> {
  await storeFacts(sql, facts)
  await sql`update series set one_shot = true where id = any(${[...facts.oneShots]})`
  for (const [i, [id, members]] of [...facts.collections].entries()) {
    const name = `Collection ${i}`
    await sql`insert into collection ${sql({ id, name, name_key: name })}`
    await sql`
      insert into collection_series (collection_id, series_id, position)
      select ${id}, m.id, m.place from unnest(${[...members]}::uuid[]) with ordinality as m(id, place)`
  }
  for (const [i, [id, members]] of [...facts.readLists].entries()) {
    const name = `Read list ${i}`
    await sql`insert into read_list ${sql({ id, name, name_key: name })}`
    await sql`
      insert into read_list_book (read_list_id, book_id, position)
      select ${id}, m.id, m.place from unnest(${[...members]}::uuid[]) with ordinality as m(id, place)`
  }
  const books = facts.books.map(({ id }) => ({
    id,
    authors: facts.credits.get(id)!,
    error: facts.errors.get(id) ?? null,
    isUnread: facts.unread.has(id),
    cover: facts.covers.get(id)!.isGenerated ? 'aa' : null,
    uploaded: facts.covers.get(id)!.uploaded,
  }))
  await sql`
    with given as materialized (
      select * from jsonb_to_recordset(${sql.json(books)})
        as g(id uuid, authors jsonb, error text, "isUnread" boolean, cover text, uploaded jsonb)
    ), covered as (
      insert into book_artifact (book_id, cover) select id, decode(cover, 'hex') from given
      on conflict (book_id) do update set cover = excluded.cover
    ), uploads as (
      insert into cover (id, book_id, source, hash, original, is_selected)
      select gen_random_uuid(), g.id, 'custom', '\\xbb', 'x', u::boolean
      from given g, jsonb_array_elements_text(g.uploaded) u
    )
    update book b
    set authors = g.authors, error_code = g.error,
      format = case when g."isUnread" then null else b.format end,
      custom_cover = case when g.uploaded @> 'true' then '\\xbb'::bytea end
    from given g where b.id = g.id`
  const ids = facts.series.map(s => s.id)
  await refreshAuthorKeys(sql, ids)
  await refreshFirstRelease(sql, ids)
  await refreshLowestAge(sql, ids)
  await refreshBooksMetadata(sql, ids)
}
