// Under which account PostgreSQL runs: it refuses root, so root lends it another face.
import { type SpawnOptions, spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Invalid } from '../../errors.ts'

/** `uid` and `gid` own the server's files; null on Windows. */
export type Account = {
  kind: 'self' | 'namespace' | 'other'
  uid: number | null
  gid: number | null
}

const nobody = '65534'
const mapping = ['-U', `--map-user=${nobody}`, `--map-group=${nobody}`]

/** As root: the owner of an existing cluster, else a user namespace, else `postgres` or `nobody`. */
export function chooseAccount(cluster: string): Account {
  const uid = process.getuid?.() ?? null
  if (uid !== 0) return { kind: 'self', uid, gid: process.getgid?.() ?? null }
  const owner = statSync(cluster, { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return { kind: 'other', uid: owner.uid, gid: owner.gid }
  // Files stay root's and a checkout below /root (mode 700) works, but many containers forbid it.
  if (spawnSync('unshare', [...mapping, 'true'], { stdio: 'ignore' }).status === 0) {
    return { kind: 'namespace', uid: 0, gid: 0 }
  }
  const found = inPasswd('postgres') ?? inPasswd('nobody')
  if (found) return { kind: 'other', ...found }
  throw new Invalid(
    'PostgreSQL does not run as root, and there is neither a user namespace nor an account ' +
      '"postgres" or "nobody" to lend it; start Stackroom as an ordinary user or set ' +
      'STACKROOM_DATABASE_URL',
  )
}

/** Whether the account can enter and run `path`: only the kernel knows all the rules, so it is asked. */
export function canReach(account: Account, path: string): boolean {
  if (account.kind !== 'other') return true
  const options = { uid: account.uid ?? 0, gid: account.gid ?? 0, stdio: 'ignore' } as const
  return spawnSync('test', ['-x', path], options).status === 0
}

/** The command line and options that run `program` under the account. */
export function runAs(account: Account, program: string, args: string[]) {
  const options: SpawnOptions = {}
  if (account.kind === 'namespace') {
    // Without --fork unshare becomes the program, so the child's pid is the server's pid.
    return { file: 'unshare', args: [...mapping, program, ...args], options }
  }
  if (account.kind === 'other') {
    options.uid = account.uid ?? 0
    options.gid = account.gid ?? 0
  }
  return { file: program, args, options }
}

/** Path of a server program. */
export function programPath(native: string, name: string): string {
  return join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
}

function inPasswd(name: string): { uid: number; gid: number } | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find(text => text.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : null
}
