// The files of the cluster: made once by initdb, configured anew at every start.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Invalid } from '../../errors.ts'
import type { Binaries } from './binaries.ts'
import { type Account, programPath, runAs } from './os-user.ts'

export const superuser = 'stackroom'
const confName = 'stackroom.conf'
const passwordName = 'stackroom.password'

/** Throws Invalid when the cluster was made by another major version of PostgreSQL. */
export function checkVersion(cluster: string, major: string): void {
  const made = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  if (made === major) return
  throw new Invalid(
    `${cluster} was made by PostgreSQL ${made}, and this Stackroom brings ${major}. Start the ` +
      `Stackroom that made it, or move the directory away and let the libraries be scanned again`,
  )
}

/** Makes the cluster aside and renames it into place, so a crash leaves no half of one. */
export async function createCluster(
  cluster: string,
  { binaries, account, sync }: { binaries: Binaries; account: Account; sync: boolean },
): Promise<void> {
  const fresh = `${cluster}.new`
  const secret = `${cluster}.secret`
  rmSync(fresh, { recursive: true, force: true })
  rmSync(secret, { force: true })
  mkdirSync(fresh, { mode: 0o700 })
  writeFileSync(secret, randomBytes(24).toString('base64url'), { mode: 0o600 })
  give(fresh, account)
  give(secret, account)
  const args = ['-D', fresh, '-U', superuser, '-E', 'UTF8', '--locale-provider=builtin']
  args.push('--locale=C.UTF-8', '--auth=scram-sha-256', `--pwfile=${secret}`)
  if (!sync) args.push('--no-sync')
  await run(runAs(account, programPath(binaries.native, 'initdb'), args), binaries.env)
  renameSync(secret, join(fresh, passwordName))
  appendFileSync(join(fresh, 'postgresql.conf'), `\ninclude '${confName}'\n`)
  renameSync(fresh, cluster)
}

/** The settings of this start. An admin's `alter system` still wins over them. */
export function writeSettings(
  cluster: string,
  settings: Record<string, string>,
  account: Account,
): void {
  const lines = Object.entries(settings).map(([k, v]) => `${k} = '${v.replaceAll("'", "''")}'`)
  const path = join(cluster, confName)
  writeFileSync(path, `# Written at every start.\n${lines.join('\n')}\n`, { mode: 0o600 })
  give(path, account)
}

export function readPassword(cluster: string): string {
  return readFileSync(join(cluster, passwordName), 'utf8').trim()
}

/** Hands a whole tree to the account, e.g. when a volume moved to a container without namespaces. */
export function giveTree(path: string, account: Account): void {
  if (account.uid === null || statSync(path).uid === account.uid) return
  for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
    give(join(path, name), account)
  }
  // Last, because its owner tells whether the work is done.
  give(path, account)
}

export function give(path: string, { kind, uid, gid }: Account): void {
  if (kind === 'other' && existsSync(path)) chownSync(path, uid ?? 0, gid ?? 0)
}

async function run(command: ReturnType<typeof runAs>, env: Record<string, string>): Promise<void> {
  const child = spawn(command.file, command.args, {
    ...command.options,
    // A relative or forbidden working directory is inherited and refused by initdb.
    cwd: '/',
    env: { ...process.env, ...env, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr?.on('data', chunk => {
    complaint = (complaint + chunk).slice(-4000)
  })
  const status = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  }).catch(cause => {
    throw new Invalid('PostgreSQL cannot be run here (does this system have glibc?)', { cause })
  })
  if (status !== 0) throw new Invalid(`PostgreSQL could not make its files: ${complaint.trim()}`)
}
