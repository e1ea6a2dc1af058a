// Accounts that the lists are measured for: unrestricted, restricted by libraries and tags, limited by age.
import { newId } from '../../lib/id.ts'
import type { Sql } from '../../lib/postgres/db.ts'
import { insertApiKey } from '../../test/kit/accounts.ts'

export type GridViewer = { name: string; key: string; accountId: string }

/** The three accounts with the most progress; administrators, so that every list is open to them. */
export async function gridViewers(sql: Sql): Promise<GridViewer[]> {
  const ids = await sql<{ id: string }[]>`
    select account_id as id from progress group by account_id
    order by count(*) desc, account_id limit 3`
  const [all, limited, young] = ids.map(row => row.id) as [string, string, string]
  await sql`
    update account set role = 'admin', age_limit = null, all_libraries = true
    where id in ${sql([all, limited, young])}`
  await restrict(sql, limited)
  await sql`update account set age_limit = 12 where id = ${young}`
  const names = { unrestricted: all, 'libraries and tags': limited, age: young }
  return await Promise.all(
    Object.entries(names).map(async ([name, accountId]) => ({
      name,
      accountId,
      key: (await insertApiKey(sql, accountId)).key,
    })),
  )
}

/** Two libraries of three, and not 400 series that carry a tag. */
async function restrict(sql: Sql, accountId: string) {
  await sql`update account set all_libraries = false where id = ${accountId}`
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
