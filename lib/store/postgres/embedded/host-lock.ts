// Host lock of a data directory: two PostgreSQL servers on shared storage would corrupt it.
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Conflict } from '../../../base/errors.ts'
import { isDiskFull } from '../connection-error.ts'

const heartbeatMs = 3000
const observationMs = 5 * heartbeatMs
const staleMs = 60_000
// A server whose postmaster.pid has disappeared stops by itself; it checks once a minute.
const selfStopMs = 65_000
// Magic numbers of statfs(2): NFS, SMB, SMB2, CIFS, Ceph, FUSE (including virtiofs), 9p, AFS.
const sharedFileSystems = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0xc36400, 0x65735546, 0x1021997, 0x5346414f,
])

type Holder = { host: string; pid: number; version: string }

/** Holds the lock with a heartbeat until `stop`, which leaves the file in place; `release` removes it. */
export function holdHostLock(dataDir: string, version: string) {
  const path = join(dataDir, 'stackroom.lock')
  const write = () => {
    const holder: Holder = { host: hostname(), pid: process.pid, version }
    // Removed first: a file left by a root process can be removed but not overwritten.
    rmSync(path, { force: true })
    try {
      writeFileSync(path, `${JSON.stringify(holder)}\n`)
    } catch (error) {
      // Only another host would miss it, and that cannot start a server on a full disk either.
      if (!isDiskFull(error)) throw error
    }
  }
  const touch = () => {
    try {
      utimesSync(path, new Date(), new Date())
    } catch {}
  }
  write()
  const timer = setInterval(touch, heartbeatMs).unref()
  const stop = () => clearInterval(timer)
  const release = () => {
    stop()
    rmSync(path, { force: true })
  }
  return { stop, release }
}

/**
 * Returns if no other host uses `dataDir`. A lock without heartbeat is left over from a crash (often of a
 * container that got a new host name) and is ignored. Throws Conflict naming the host.
 */
export async function awaitOtherHost(dataDir: string, postmasterPid: string): Promise<void> {
  const path = join(dataDir, 'stackroom.lock')
  const first = readLock(path)
  if (!first || first.holder.host === hostname()) return
  if (Date.now() - first.touchedMs < staleMs && (await hasHeartbeat(path, first.touchedMs))) {
    const { host, pid, version } = first.holder
    throw new Conflict(
      `The data directory ${dataDir} is in use by Stackroom ${version} on host "${host}" ` +
        `(process ${pid}); stop it there first`,
    )
  }
  const hasOrphan = readText(postmasterPid) !== null
  rmSync(path, { force: true })
  if (hasOrphan && sharedFileSystems.has(statfsSync(dataDir).type)) {
    rmSync(postmasterPid, { force: true })
    await sleep(selfStopMs)
  }
}

async function hasHeartbeat(path: string, touchedMs: number): Promise<boolean> {
  const deadline = performance.now() + observationMs
  while (performance.now() < deadline) {
    await sleep(250)
    const current = readLock(path)
    if (!current) return false
    if (current.touchedMs !== touchedMs) return true
  }
  return false
}

// Opened instead of calling stat(): NFS caches attributes for up to a minute but revalidates them on open.
function readLock(path: string): { holder: Holder; touchedMs: number } | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return null
  }
  try {
    const touchedMs = fstatSync(fd).mtimeMs
    return { holder: JSON.parse(readFileSync(fd, 'utf8')), touchedMs }
  } catch {
    return null
  } finally {
    closeSync(fd)
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
