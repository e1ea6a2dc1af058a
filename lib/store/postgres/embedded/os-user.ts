// OS user for the PostgreSQL server, which refuses to run as root.
import { type SpawnOptions, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Invalid } from '../../../base/errors.ts'

/** `uid` and `gid` own the server's files; null on Windows. */
export type OsUser = {
  kind: 'self' | 'namespace' | 'other'
  uid: number | null
  gid: number | null
}

/** A command line with the `spawn` options it needs. */
export type Command = { file: string; args: string[]; options: SpawnOptions }

const unprivilegedId = 65534
const mapping = (id: number) => ['-U', `--map-user=${id}`, `--map-group=${id}`]

/** Used as root: the owner of an existing cluster, else a user namespace, else `postgres` or `nobody`. */
export function chooseOsUser(cluster: string): OsUser {
  const uid = process.getuid?.() ?? null
  if (uid !== 0) return { kind: 'self', uid, gid: process.getgid?.() ?? null }
  const owner = statSync(cluster, { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return { kind: 'other', uid: owner.uid, gid: owner.gid }
  // Files stay owned by root and a checkout below /root (mode 700) works, but many containers forbid it.
  if (
    spawnSync('unshare', [...mapping(unprivilegedId), 'true'], { stdio: 'ignore' }).status === 0
  ) {
    return { kind: 'namespace', uid: 0, gid: 0 }
  }
  const user = findInPasswd('postgres') ?? findInPasswd('nobody')
  if (user) return { kind: 'other', ...user }
  throw new Invalid(
    'PostgreSQL does not run as root, user namespaces are not available, and there is no user ' +
      '"postgres" or "nobody"; start Stackroom as an ordinary user or set STACKROOM_DATABASE_URL',
  )
}

/** Whether the user can execute `path`; tested by the kernel, which knows all rules (ACLs, mounts). */
export function canReach(user: OsUser, path: string): boolean {
  if (user.kind !== 'other') return true
  const options = { uid: user.uid ?? 0, gid: user.gid ?? 0, stdio: 'ignore' } as const
  return spawnSync('test', ['-x', path], options).status === 0
}

/** The command that runs `program` as the user. */
export function runAs(user: OsUser, program: string, args: string[]): Command {
  if (user.kind === 'namespace') return runInNamespace(unprivilegedId, program, args)
  const options: SpawnOptions = {}
  if (user.kind === 'other') {
    options.uid = user.uid ?? 0
    options.gid = user.gid ?? 0
  }
  return { file: program, args, options }
}

/**
 * The command that runs `program` in a user namespace with `id` as its own user id; files keep their owner.
 */
export function runInNamespace(id: number, program: string, args: string[]): Command {
  // Without --fork, unshare becomes the program, so the child's pid is the server's pid.
  return { file: 'unshare', args: [...mapping(id), program, ...args], options: {} }
}

/** The ids seen by a program that runs as the user. */
export function effectiveIds({ kind, uid, gid }: OsUser) {
  return kind === 'namespace' ? { uid: unprivilegedId, gid: unprivilegedId } : { uid, gid }
}

/** An id other than root's with an entry in /etc/passwd; null without one. */
export function findListedId(): number | null {
  const listed = passwdEntries().find(({ uid }) => uid > 0)
  return listed?.uid ?? null
}

/** Path of a server program. */
export function programPath(native: string, name: string): string {
  return join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
}

function findInPasswd(name: string): { uid: number; gid: number } | null {
  const entry = passwdEntries().find(entry => entry.name === name)
  return entry ? { uid: entry.uid, gid: entry.gid } : null
}

function passwdEntries(): { name: string; uid: number; gid: number }[] {
  if (!existsSync('/etc/passwd')) return []
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .flatMap(line => {
      const [name, , uid, gid] = line.split(':')
      return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : []
    })
}
