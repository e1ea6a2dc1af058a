// Database cluster directory: created once by initdb, configured at every start.
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
import { Invalid } from '../../../base/errors.ts'
import type { Binaries } from './binaries.ts'
import { runInitdb } from './initdb.ts'
import type { OsUser } from './os-user.ts'

export const superuser = 'stackroom'
const confName = 'stackroom.conf'
const passwordName = 'stackroom.password'

/** Throws Invalid if the cluster was created by another major version of PostgreSQL. */
export function checkVersion(cluster: string, major: string): void {
  const created = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  if (created === major) return
  throw new Invalid(
    `${cluster} was created by PostgreSQL ${created}, but this version of Stackroom contains ${major}. Use the ` +
      `version that created it, or move the directory away and scan the libraries again`,
  )
}

/** Creates the cluster in a temporary directory and renames it, so that a crash leaves no partial one. */
export async function createCluster(
  cluster: string,
  { binaries, user, sync }: { binaries: Binaries; user: OsUser; sync: boolean },
): Promise<void> {
  const temporary = `${cluster}.new`
  const secret = `${cluster}.secret`
  rmSync(temporary, { recursive: true, force: true })
  rmSync(secret, { force: true })
  mkdirSync(temporary, { mode: 0o700 })
  writeFileSync(secret, randomBytes(24).toString('base64url'), { mode: 0o600 })
  changeOwner(temporary, user)
  changeOwner(secret, user)
  const args = ['-D', temporary, '-U', superuser, '-E', 'UTF8', '--locale-provider=builtin']
  args.push('--locale=C.UTF-8', '--auth=scram-sha-256', `--pwfile=${secret}`)
  // 192 random bits need no slow hash, which would add 5 ms to each new connection.
  args.push('--set=scram_iterations=1')
  if (!sync) args.push('--no-sync')
  await runInitdb(args, { binaries, user, path: cluster })
  renameSync(secret, join(temporary, passwordName))
  appendFileSync(join(temporary, 'postgresql.conf'), `\ninclude '${confName}'\n`)
  renameSync(temporary, cluster)
}

/** Writes the settings for this start. An administrator's `alter system` overrides them. */
export function writeSettings(cluster: string, settings: Record<string, string>, user: OsUser) {
  const lines = Object.entries(settings).map(([k, v]) => `${k} = '${v.replaceAll("'", "''")}'`)
  const path = join(cluster, confName)
  const text = `# Generated at every start.\n${lines.join('\n')}\n`
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  // Renamed, so that the old settings survive a full disk.
  const draft = `${path}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  changeOwner(draft, user)
  renameSync(draft, path)
}

/** Throws Invalid if the file is missing. */
export function readPassword(cluster: string): string {
  const file = join(cluster, passwordName)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const message = `The password of the bundled database, ${file}, cannot be read (${code}); restore it from a backup`
    throw new Invalid(message, { cause })
  }
}

/** Replaces a connection error with Invalid if the server rejects the password in the file. */
export function namePassword(error: unknown, cluster: string): unknown {
  if ((error as { code?: unknown }).code !== '28P01') return error
  const file = join(cluster, passwordName)
  const message = `The bundled database does not accept the password in ${file}; restore the file from a backup`
  return new Invalid(message, { cause: error })
}

/** Changes the owner of a tree, e.g. after a volume has moved to a container without user namespaces. */
export function changeTreeOwner(path: string, user: OsUser): void {
  if (user.uid === null || statSync(path).uid === user.uid) return
  for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
    changeOwner(join(path, name), user)
  }
  // Last, because its owner marks the change as complete.
  changeOwner(path, user)
}

export function changeOwner(path: string, { kind, uid, gid }: OsUser): void {
  if (kind === 'other' && existsSync(path)) chownSync(path, uid ?? 0, gid ?? 0)
}
