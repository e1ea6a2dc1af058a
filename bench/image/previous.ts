// A data directory as an older version of Stackroom left it, with an older PostgreSQL, and whether an image upgraded it.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../lib/store/postgres/db.ts'
import { startPostgres } from '../../lib/store/postgres/embedded/embedded.ts'
import { previousPrograms } from '../../lib/store/postgres/embedded/previous-programs.ts'
import { migrate } from '../../lib/store/postgres/migrate.ts'
import { insertAccount } from '../../test/kit/accounts.ts'

/** Returns the names of the accounts in it. The programs are fetched into `work`. */
export async function writePrevious(data: string, major: string, work: string): Promise<string[]> {
  mkdirSync(data)
  const programs = await previousPrograms(major, { dataDir: work })
  const server = await startPostgres({ dataDir: data, programs })
  const sql = connect(server.url, { max: 1 })
  try {
    await migrate(sql)
    const roles = ['admin', 'reader'] as const
    const names: string[] = []
    for (const role of roles) names.push((await insertAccount(sql, role)).username)
    return names
  } finally {
    await sql.end()
    await server.stop()
  }
}

/** `output` is of `user list --json`. */
export function checkUpgraded(
  data: string,
  { major, output, accounts }: { major: string; output: string; accounts: string[] },
): void {
  const version = readFileSync(join(data, 'postgres', 'PG_VERSION'), 'utf8').trim()
  if (Number(version) <= Number(major)) throw new Error(`still PostgreSQL ${version}`)
  if (!existsSync(join(data, `postgres-${major}`))) throw new Error('the old cluster is gone')
  const missing = accounts.filter(name => !output.includes(`"${name}"`))
  if (missing.length > 0) throw new Error(`${missing} lost: ${output}`)
}
