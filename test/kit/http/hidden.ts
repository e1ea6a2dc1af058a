// Content hidden from a restricted account in a fixture, with a check that it is unchanged.
import type { Sql } from '../../../lib/store/postgres/db.ts'
import type { Fixture } from '../fixture.ts'

export type Hidden = {
  /** Ids by what they are of. */
  ids: Record<'library' | 'series' | 'book' | 'collection' | 'readlist', readonly string[]>
  /** All ids, and the texts that occur in nothing visible. */
  secrets: readonly string[]
}

const mark = 'Unseen'

/**
 * Hides the second library and the series `Hidden` by its age, from accounts of `restrict`. Titles of what is hidden
 * contain a word that nothing else has.
 */
export async function hideInFixture({ sql, libraries }: Fixture): Promise<Hidden> {
  const [, other] = libraries
  await sql`update series set age_rating = 18 where name = 'Hidden'`
  await sql`update library set name = ${`${mark} library`} where id = ${other!.id}`
  const isHidden = sql`(s.library_id = ${other!.id} or s.name = 'Hidden')`
  await sql`update series s set title = ${mark} || ' ' || name where ${isHidden}`
  const books = await sql<{ id: string }[]>`
    update book b set title = ${mark} || ' ' || b.title from series s
    where s.id = b.series_id and ${isHidden} returning b.id`
  const series = await sql<{ id: string }[]>`select s.id from series s where ${isHidden}`
  const groups = await sql<{ id: string; kind: 'collection' | 'readlist' }[]>`
    select id, 'collection' as kind from collection where name like ${`${mark}%`}
    union all select id, 'readlist' from read_list where name like ${`${mark}%`}`
  const idsOf = (kind: string) => groups.filter(group => group.kind === kind).map(({ id }) => id)
  const ids = {
    library: [other!.id],
    series: series.map(({ id }) => id),
    book: books.map(({ id }) => id),
    collection: idsOf('collection'),
    readlist: idsOf('readlist'),
  }
  return { ids, secrets: [mark, ...Object.values(ids).flat()] }
}

/** Restricts an account to what `hideInFixture` leaves. */
export async function restrict({ admin, libraries }: Fixture, accountId: string): Promise<void> {
  const body = { libraryIds: [libraries[0]!.id], ageLimit: 12 }
  const { status } = await admin.put(`/users/${accountId}`, body)
  if (status !== 200) throw new Error(`The account was not restricted: ${status}`)
}

/** Digests of the rows and jobs that name something hidden, with their table. */
export async function hiddenRows(sql: Sql, { ids }: Hidden): Promise<string[]> {
  const pattern = Object.values(ids).flat().join('|')
  const tables = await sql<{ schema: string; name: string }[]>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and (table_schema = 'public' or table_name = 'job')`
  const found: string[] = []
  for (const { schema, name } of tables) {
    const rows = await sql<{ digest: string }[]>`
      select md5(t::text) as digest from ${sql(schema)}.${sql(name)} t where t::text ~ ${pattern}`
    found.push(...rows.map(({ digest }) => `${name} ${digest}`))
  }
  return found
}

// Rules and settings as the caller wrote them, with any id.
const ownText = /^(?:collection|filter_preset|source) /

/** What is changed, gone or new of such rows. */
export function changedRows(before: readonly string[], after: readonly string[]): string[] {
  const [earlier, later] = [new Set(before), new Set(after)]
  return [
    ...before.filter(row => !later.has(row)),
    ...after.filter(row => !earlier.has(row) && !ownText.test(row)),
  ]
}
