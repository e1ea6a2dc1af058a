// PostgreSQL settings: sockets, memory, durability. The server has one application and shares the machine.
import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { Conflict, Unavailable } from '../../../base/errors.ts'
import { changeOwner } from './cluster.ts'
import type { OsUser } from './os-user.ts'

const windows = process.platform === 'win32'
const gib = 1024 ** 3

/** Settings without durability, for tests. The files may be in memory. */
const throwawaySettings = {
  max_wal_size: '256MB',
  fsync: 'off',
  full_page_writes: 'off',
  wal_writer_delay: '10ms',
  shared_buffers: '64MB',
}

/** The settings for a start: a private socket directory, or a free loopback port on Windows. */
export async function serverSettings(
  cluster: string,
  user: OsUser,
  { throwaway, port }: { throwaway: boolean; port: number | null },
): Promise<Record<string, string>> {
  const listen: Record<string, string> = windows
    ? { listen_addresses: '127.0.0.1', port: String(port ?? (await freePort())) }
    : {
        listen_addresses: '',
        port: '5432',
        unix_socket_directories: socketDirectory(cluster, user),
        unix_socket_permissions: '0700',
      }
  if (hasSmallSharedMemory()) listen.dynamic_shared_memory_type = 'sysv'
  return { ...listen, ...tuning(maxWalMegabytes(cluster)), ...(throwaway ? throwawaySettings : {}) }
}

/** At most 2 GB, less on a small disk: WAL written between checkpoints takes space from the data. */
function maxWalMegabytes(cluster: string): number {
  const { blocks, bsize } = statfsSync(dirname(cluster))
  return Math.min(2048, Math.max(48, Math.floor((blocks * bsize) / 1024 ** 2 / 10)))
}

function tuning(maxWalMb: number): Record<string, string> {
  return {
    // Shared by several processes; an unused connection slot costs a few kilobytes.
    max_connections: '200',
    shared_buffers: totalmem() > 4 * gib ? '256MB' : '128MB',
    work_mem: '16MB',
    maintenance_work_mem: '128MB',
    // Makes commits of background work 3.6 times faster; a crash may lose its last 0.3 s, but not
    // consistency. Requests set it to on.
    synchronous_commit: 'off',
    wal_writer_delay: '100ms',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    min_wal_size: `${Math.min(80, maxWalMb)}MB`,
    max_wal_size: `${maxWalMb}MB`,
    // Recovery starts after 0.1 s instead of 4 s: one call instead of one per file.
    recovery_init_sync_method: process.platform === 'linux' ? 'syncfs' : 'fsync',
    checkpoint_completion_target: '0.9',
    random_page_cost: '1.1',
    effective_io_concurrency: windows || process.platform === 'darwin' ? '0' : '32',
    // JIT compilation costs more than short queries gain.
    jit: 'off',
    // For passwords set by administrators; see createCluster for our own.
    scram_iterations: '4096',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    // The application reports failed statements. Here they would only grow the log and leave row values in
    // it: messages quote invalid input, details quote rows, and statements and contexts quote parameters.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_statement: 'none',
    log_min_duration_statement: '-1',
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
  }
}

// Containers have 64 MB of /dev/shm by default, too little for parallel queries.
function hasSmallSharedMemory(): boolean {
  if (process.platform !== 'linux') return false
  try {
    const { blocks, bsize } = statfsSync('/dev/shm')
    return blocks * bsize < gib / 2
  } catch {
    return true
  }
}

// Not in the data directory, because a socket path has at most 107 bytes (103 on macOS). The owner is part of
// the name, so that the old socket directory is not reused after a change of owner.
function socketDirectory(cluster: string, user: OsUser): string {
  const hash = createHash('sha256').update(`${cluster}:${user.uid}`).digest('hex').slice(0, 12)
  const base = [tmpdir(), '/tmp'].find(dir => Buffer.byteLength(dir) < 60) ?? '/tmp'
  const path = join(base, `stackroom-${hash}`)
  try {
    mkdirSync(path, { mode: 0o700 })
    changeOwner(path, user)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST')
      throw new Unavailable(
        `The socket folder ${path} of the database cannot be created (${code}); ` +
          'set TMPDIR to an existing folder that you can write to',
      )
  }
  const stats = lstatSync(path)
  if (!stats.isDirectory() || stats.uid !== user.uid) {
    throw new Conflict(`${path} belongs to another user; remove it or set TMPDIR`)
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
