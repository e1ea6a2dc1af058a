// Accounts that the lists are measured for: unrestricted, restricted by libraries and tags, limited by age.

import { unrestrictedViewer, type Viewer } from '../../lib/accounts/viewer.ts'
import { newId } from '../../lib/base/id.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { insertApiKey } from '../../test/kit/accounts.ts'

const ageLimit = 12
export type GridViewer = { name: string; key: string; viewer: Viewer }

/** The three accounts with the most progress; administrators, so that every list is open to them. */
export async function gridViewers(sql: Sql): Promise<GridViewer[]> {
  const ids = await sql<{ id: string }[]>`
    select account_id as id from progress group by account_id
    order by count(*) desc, account_id limit 3`
  const [all, limited, young] = ids.map(row => row.id) as [string, string, string]
  await sql`
    update account set role = 'admin', age_limit = null, all_libraries = true
    where id in ${sql([all, limited, young])}`
  const viewers: Record<string, Viewer> = {
    unrestricted: unrestrictedViewer(all),
    'libraries and tags': { ...unrestrictedViewer(limited), ...(await restrict(sql, limited)) },
    age: { ...unrestrictedViewer(young), ageLimit },
  }
  await sql`update account set age_limit = ${ageLimit} where id = ${young}`
  return await Promise.all(
    Object.entries(viewers).map(async ([name, viewer]) => ({
      ...{ name, viewer },
      key: (await insertApiKey(sql, viewer.accountId)).key,
    })),
  )
}

/** Two libraries of three, and not 400 series that carry a tag. */
async function restrict(sql: Sql, accountId: string) {
  await sql`update account set all_libraries = false where id = ${accountId}`
  const libraries = await sql<{ id: string }[]>`select id from library order by name limit 2`
  for (const { id } of libraries)
    await sql`
      insert into account_library (account_id, library_id) values (${accountId}, ${id})
      on conflict do nothing`
  await sql`insert into sharing_tag (id, name) values (${newId()}, 'bench') on conflict do nothing`
  const [tag] = await sql<{ id: string }[]>`select id from sharing_tag where name = 'bench'`
  await sql`
    insert into series_sharing_tag (series_id, tag_id)
    select id, ${tag!.id} from series order by id limit 400 on conflict do nothing`
  await sql`
    insert into account_sharing_tag (id, account_id, tag_id, mode)
    values (${newId()}, ${accountId}, ${tag!.id}, 'deny') on conflict do nothing`
  await sql`analyze series_sharing_tag`
  return { libraries: libraries.map(({ id }) => id), deniedTags: [tag!.id] }
}
