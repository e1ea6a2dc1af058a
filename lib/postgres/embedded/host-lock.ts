// A data directory belongs to one host: two PostgreSQL servers on shared storage would destroy it.
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
import { Conflict } from '../../errors.ts'

const beatMs = 3000
const observeMs = 5 * beatMs
const forgottenMs = 60_000
// A server whose postmaster.pid vanished stops by itself; it looks once a minute.
const selfStopMs = 65_000
// Magic numbers of statfs(2): NFS, SMB, SMB2, CIFS, Ceph, FUSE (also virtiofs), 9p, AFS.
const shared = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0xc36400, 0x65735546, 0x1021997, 0x5346414f,
])

type Holder = { host: string; pid: number; version: string }

/** Says "this host uses `dataDir`" until `stop`, which leaves the file; `release` removes it. */
export function holdHostLock(dataDir: string, version: string) {
  const path = join(dataDir, 'stackroom.lock')
  const write = () => {
    const holder: Holder = { host: hostname(), pid: process.pid, version }
    // Not overwritten: one that root's process left behind can only be removed.
    rmSync(path, { force: true })
    writeFileSync(path, `${JSON.stringify(holder)}\n`)
  }
  const beat = () => {
    try {
      utimesSync(path, new Date(), new Date())
    } catch {}
  }
  write()
  const timer = setInterval(beat, beatMs).unref()
  const stop = () => clearInterval(timer)
  const release = () => {
    stop()
    rmSync(path, { force: true })
  }
  return { stop, release }
}

/**
 * Returns when no other host uses `dataDir`. A lock without a heartbeat is a crash's (often a
 * container that came back under a new name) and is passed over. Throws Conflict naming the host.
 */
export async function awaitOtherHost(dataDir: string, postmasterPid: string): Promise<void> {
  const path = join(dataDir, 'stackroom.lock')
  const first = look(path)
  if (!first || first.holder.host === hostname()) return
  if (Date.now() - first.touchedMs < forgottenMs && (await beats(path, first.touchedMs))) {
    const { host, pid, version } = first.holder
    throw new Conflict(
      `The data directory ${dataDir} is in use by Stackroom ${version} on host "${host}" ` +
        `(process ${pid}); stop it there first`,
    )
  }
  const orphan = readText(postmasterPid) !== null
  rmSync(path, { force: true })
  if (orphan && shared.has(statfsSync(dataDir).type)) {
    rmSync(postmasterPid, { force: true })
    await sleep(selfStopMs)
  }
}

async function beats(path: string, touchedMs: number): Promise<boolean> {
  const deadline = performance.now() + observeMs
  while (performance.now() < deadline) {
    await sleep(250)
    const now = look(path)
    if (!now) return false
    if (now.touchedMs !== touchedMs) return true
  }
  return false
}

// Opened, not just stat'ed: NFS caches attributes for up to a minute but asks again on open.
function look(path: string): { holder: Holder; touchedMs: number } | null {
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
