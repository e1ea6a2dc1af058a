// Child process of tests that kill a poll: polls a release source whose pages come from a server of the test.
// node poll-process.ts DATABASE_URL RELEASE_SOURCE_ID PAGES_URL

import type { ReleasePage } from '../../../lib/sources/contract.ts'
import { connect } from '../../../lib/store/postgres/db.ts'
import { poll } from './polls.ts'

const [url, id, pages] = process.argv.slice(2) as [string, string, string]
const sql = connect(url, { max: 3 })
await poll(sql, id, async ({ cursor }) => {
  const response = await fetch(`${pages}/${cursor ?? 0}`)
  return (await response.json()) as ReleasePage
})
await sql.end()
