// The PostgreSQL that comes with Stackroom: started by the first process that needs it, shared by
// all on this host, stopped by the last one to leave.
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Conflict, Invalid } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { findPackage } from './binaries.ts'
import {
  type Address,
  type Seat,
  takeFirstSeat,
  takeSeat,
  whyNoSeat,
} from './client-registration.ts'
import { checkVersion, readPassword, superuser } from './cluster.ts'
import { awaitOtherHost, holdHostLock } from './host-lock.ts'
import { prepare } from './prepare.ts'
import { findSocket, isServer, launch, type Running, readPostmaster, shutDown } from './server.ts'
import { throughGate } from './start-lock.ts'

/** A running server. `url` says the same as `options`; `adopted` means that it already ran. */
export type Postgres = {
  options: Address
  url: string
  pid: number
  adopted: boolean
  /** Leaves, and shuts the server down unless another process uses it. Close other connections first. */
  stop(): Promise<void>
  /** Leaves and lets the server run; the next start adopts it. */
  leave(): Promise<void>
}

type Start = { dataDir: string; log?: Log | undefined; throwaway?: boolean | undefined }
type Place = { home: string; cluster: string; log?: Log | undefined; throwaway: boolean }

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8'),
) as { version: string }

const silentMs = 15_000
const recoveryMs = 600_000

/**
 * Starts or adopts the server whose files are in `<dataDir>/postgres`; its log is
 * `<dataDir>/postgres.log`. `throwaway` starts empty and without care for power cuts.
 * Throws Invalid (cannot run here, other major version) and Conflict (in use by another host).
 */
export async function startPostgres({ dataDir, log, throwaway = false }: Start): Promise<Postgres> {
  const home = openHome(dataDir)
  const place = { home, cluster: join(home, 'postgres'), log, throwaway }
  return throughGate(home, async () => {
    const start = performance.now()
    const adopted = await adopt(place)
    const { running, seat, options } = adopted ?? (await begin(place))
    const lock = holdHostLock(home, version)
    const { pid } = running
    const ms = Math.round(performance.now() - start)
    log?.info({ serverPid: pid, ms }, adopted ? 'database adopted' : 'database started')
    const leave = async () => {
      lock.stop()
      await seat.leave()
    }
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= throughGate(home, () => finish(place, { seat, lock }))
      return stopped
    }
    return { options, url: toUrl(options), pid, adopted: adopted !== null, stop, leave }
  })
}

type Joined = { running: Running; seat: Seat; options: Address }

async function adopt({ cluster, log }: Place): Promise<Joined | null> {
  if (!existsSync(join(cluster, 'PG_VERSION'))) return null
  const { native, version: ours } = findPackage()
  checkVersion(cluster, ours.split('.')[0] ?? '')
  const start = performance.now()
  for (;;) {
    const running = readPostmaster(cluster)
    if (!running) return null
    const socket = findSocket(running)
    const options = toAddress({ ...running, host: socket ?? running.host }, cluster)
    const seat = await takeSeat(options).catch((error: unknown) => {
      if (whyNoSeat(error) === 'refused' && isServer(running.pid, cluster)) throw error
      return null
    })
    if (seat?.dataDirectory === cluster) return { running, seat, options }
    await seat?.leave()
    if (!isServer(running.pid, cluster)) return null
    // A cleaner of /tmp may have taken the socket of a ready server; it does not come back.
    const patience = running.isReady ? (socket ? silentMs : 0) : recoveryMs
    if (performance.now() - start > patience) {
      log?.warn({ serverPid: running.pid }, 'database does not answer, restarting it')
      await shutDown(cluster, running.pid, native)
      return null
    }
    await sleep(50)
  }
}

async function begin(place: Place): Promise<Joined> {
  const { home, cluster } = place
  await awaitOtherHost(home, join(cluster, 'postmaster.pid'))
  const lock = holdHostLock(home, version)
  try {
    const { binaries, account } = await prepare(cluster, place)
    const logFile = join(home, 'postgres.log')
    const running = await launch(cluster, { binaries, account, logFile })
    const options = toAddress(running, cluster)
    try {
      return { running, seat: await takeFirstSeat(options), options }
    } catch (error) {
      await shutDown(cluster, running.pid, binaries.native)
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  } finally {
    lock.stop()
  }
}

async function finish(
  { cluster, log, throwaway }: Place,
  { seat, lock }: { seat: Seat; lock: ReturnType<typeof holdHostLock> },
): Promise<void> {
  const others = await lastingOthers(seat)
  await seat.leave()
  lock.stop()
  if (others > 0) {
    log?.info({ others }, 'database left to other processes')
    return
  }
  const running = readPostmaster(cluster)
  if (running) await shutDown(cluster, running.pid, findPackage().native)
  if (running?.host.startsWith('/')) rmSync(running.host, { recursive: true, force: true })
  if (throwaway) rmSync(cluster, { recursive: true, force: true })
  lock.release()
  log?.info('database stopped')
}

// The server notices a killed process's closed connection a moment late. One that does not answer
// any more is nobody's.
async function lastingOthers(seat: Seat): Promise<number> {
  for (let left = 10; ; left--) {
    const others = await seat.others().catch(() => 0)
    if (others === 0 || left === 0) return others
    await sleep(50)
  }
}

function openHome(dataDir: string): string {
  try {
    mkdirSync(dataDir, { recursive: true })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    // The real path: two names of one directory must meet at one socket and one server.
    return realpathSync(dataDir)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    const message = `The data directory ${dataDir} cannot be written (${code})`
    throw code === 'EEXIST' ? new Conflict(message, { cause }) : new Invalid(message, { cause })
  }
}

function toAddress({ host, port }: Running, cluster: string): Address {
  const password = readPassword(cluster)
  return { host, port, user: superuser, password, database: 'stackroom' }
}

function toUrl({ host, port, user, password, database }: Address): string {
  const url = new URL(`postgres://${user}:${password}@localhost/${database}`)
  url.searchParams.set('host', host)
  url.searchParams.set('port', String(port))
  return url.href
}
