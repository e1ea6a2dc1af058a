// Viewers of the measurements: the account with the most progress, and a restricted one with as much.

import { newId } from '../../lib/base/id.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { insertApiKey } from '../../test/kit/accounts.ts'

export async function readersOf(sql: Sql): Promise<{ name: string; key: string }[]> {
  const busy = await sql<{ id: string }[]>`
    select account_id as id from series_reading group by account_id
    order by count(*) desc, account_id limit 3`
  const [all, limited, shelf] = busy.map(row => row.id) as [string, string, string]
  await restrict(sql, limited)
  await sql`update account set all_libraries = false where id = ${shelf}`
  await sql`
    insert into account_library (account_id, library_id)
    select ${shelf}, id from library order by name limit 1 on conflict do nothing`
  return [
    { name: 'sees all', key: (await insertApiKey(sql, all)).key },
    { name: 'limited by age and tags', key: (await insertApiKey(sql, limited)).key },
    { name: 'sees one library', key: (await insertApiKey(sql, shelf)).key },
  ]
}

/** Up to 12 years, two libraries of three, and not 400 series that carry a tag. */
async function restrict(sql: Sql, accountId: string) {
  await sql`
    update account set age_limit = 12, all_libraries = false where id = ${accountId}`
  await sql`
    insert into account_library (account_id, library_id)
    select ${accountId}, id from library order by name limit 2 on conflict do nothing`
  const [known] = await sql`select 1 from sharing_tag where name = 'bench'`
  if (known) return
  const tag = newId()
  await sql`insert into sharing_tag (id, name) values (${tag}, 'bench')`
  await sql`
    insert into series_sharing_tag (series_id, tag_id) select id, ${tag} from series order by id limit 400`
  await sql`
    insert into account_sharing_tag (id, account_id, tag_id, mode)
    values (${newId()}, ${accountId}, ${tag}, 'deny')`
  await sql`analyze series_sharing_tag`
}
