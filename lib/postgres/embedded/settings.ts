// How the server listens and what it may use. It serves one application and shares the machine.
import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { Conflict } from '../../errors.ts'
import { give } from './cluster.ts'
import type { Account } from './os-user.ts'

const windows = process.platform === 'win32'
const gib = 1024 ** 3

/** For a database that may be lost with the machine, as in tests. */
const throwawaySettings = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '64MB',
}

/** The settings of a start: a private socket directory, or on Windows a free port of the loopback. */
export async function serverSettings(
  cluster: string,
  account: Account,
  throwaway: boolean,
): Promise<Record<string, string>> {
  const listen: Record<string, string> = windows
    ? { listen_addresses: '127.0.0.1', port: String(await freePort()) }
    : {
        listen_addresses: '',
        port: '5432',
        unix_socket_directories: socketDirectory(cluster, account),
        unix_socket_permissions: '0700',
      }
  if (hasSmallShm()) listen.dynamic_shared_memory_type = 'sysv'
  return { ...listen, ...tuning(), ...(throwaway ? throwawaySettings : {}) }
}

function tuning(): Record<string, string> {
  return {
    // Several processes share it; one that is not used costs a few kilobytes.
    max_connections: '200',
    shared_buffers: totalmem() > 4 * gib ? '256MB' : '128MB',
    work_mem: '16MB',
    maintenance_work_mem: '128MB',
    // A single-row commit waits 3.6x less; a power cut may lose the last 0.6 s, never consistency.
    synchronous_commit: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    max_wal_size: '2GB',
    checkpoint_completion_target: '0.9',
    random_page_cost: '1.1',
    effective_io_concurrency: windows || process.platform === 'darwin' ? '0' : '32',
    // Its compilation costs more than the short queries of an API can win back.
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    // Refused statements are the application's to report; here they would grow the log.
    log_min_messages: 'warning',
    log_min_error_statement: 'panic',
  }
}

// Containers get 64 MB of /dev/shm, too little for a parallel query.
function hasSmallShm(): boolean {
  if (process.platform !== 'linux') return false
  try {
    const { blocks, bsize } = statfsSync('/dev/shm')
    return blocks * bsize < gib / 2
  } catch {
    return true
  }
}

// Not in the data directory: a socket's path has at most 107 bytes (103 on macOS). The owner is
// part of the name, so that a data directory that changed hands does not meet its old socket.
function socketDirectory(cluster: string, account: Account): string {
  const hash = createHash('sha256').update(`${cluster}:${account.uid}`).digest('hex').slice(0, 12)
  const base = [tmpdir(), '/tmp'].find(dir => Buffer.byteLength(dir) < 60) ?? '/tmp'
  const path = join(base, `stackroom-${hash}`)
  try {
    mkdirSync(path, { mode: 0o700 })
    give(path, account)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const found = lstatSync(path)
  if (!found.isDirectory() || found.uid !== account.uid) {
    throw new Conflict(`${path} belongs to someone else; remove it or set TMPDIR`)
  }
  chmodSync(path, 0o700)
  return path
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
