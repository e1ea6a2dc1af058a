// Bundled PostgreSQL server: started by the first process, shared by all processes on this host, restarted by
// any of them if it ends unexpectedly, stopped by the last one.
import { existsSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDataFolder } from '../../../base/data-folder.ts'
import { Conflict } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import { version } from '../../../base/version.ts'
import { findPackage, majorOf, type Programs } from './binaries.ts'
import {
  type ClientRegistration,
  type ConnectionOptions,
  classifyConnectError,
  registerClient,
  registerFirstClient,
} from './client-registration.ts'
import { checkVersion, namePassword, readPassword, superuser } from './cluster.ts'
import { awaitOtherHost, holdHostLock } from './host-lock.ts'
import { prepare } from './prepare.ts'
import {
  findSocket,
  isServer,
  launch,
  type RunningServer,
  readPostmaster,
  shutDown,
} from './server.ts'
import { withStartLock } from './start-lock.ts'

/** A running server. `url` is equivalent to `options`; `adopted` is whether it was already running. */
export type Postgres = {
  options: ConnectionOptions
  url: string
  pid: number
  adopted: boolean
  /** Unregisters and stops the server unless another process uses it. Close other connections first. */
  stop(): Promise<void>
  /** Unregisters without stopping the server; the next start adopts it. */
  leave(): Promise<void>
}

type StartOptions = {
  dataDir: string
  log?: Log | undefined
  throwaway?: boolean | undefined
  /** Default: those of this version of Stackroom. */
  programs?: Programs | undefined
}
type Location = {
  directory: string
  cluster: string
  log?: Log | undefined
  throwaway: boolean
  programs: Programs
  /** Port of the last start, which a restart reuses if the server listens on one. */
  port: number | null
  /** Called when the connection to the server is lost. */
  onLoss: () => void
  /** Aborted when this process stops using the server. */
  signal: AbortSignal
}

const unresponsiveMs = 15_000
const recoveryMs = 600_000
const minRestartDelayMs = 250
const maxRestartDelayMs = 2_000
// A process that holds the lock for longer is starting the server, and uses it.
const stopLockMs = 5_000

/**
 * Starts or adopts the server whose files are in `<dataDir>/postgres` and whose log is
 * `<dataDir>/postgres.log`. `throwaway` starts with an empty database and without durability. Throws Invalid
 * (cannot run here, other major version) and Conflict (in use by another host).
 */
export async function startPostgres({
  dataDir,
  log,
  throwaway = false,
  programs = findPackage(),
}: StartOptions): Promise<Postgres> {
  const directory = openDataDirectory(dataDir)
  const abort = new AbortController()
  const location: Location = {
    ...{ directory, cluster: join(directory, 'postgres'), log, throwaway, programs, port: null },
    signal: abort.signal,
    // Restarting a throwaway server would lose its data anyway.
    onLoss: () => void (throwaway || abort.signal.aborted || (recovering ??= recover())),
  }
  let recovering: Promise<void> | null = null
  const first = await withStartLock(directory, () => attach(location))
  let current = first

  async function recover() {
    await current.client.unregister()
    const { lock } = current
    for (let delayMs = minRestartDelayMs; !location.signal.aborted; delayMs *= 2) {
      try {
        current = await withStartLock(directory, () => attach(location), location)
        lock.stop()
        break
      } catch (err) {
        if (location.signal.aborted) break
        const reason = (err as Error).message
        if (delayMs === minRestartDelayMs) log?.error({ reason }, 'database cannot be restarted')
        await sleep(Math.min(delayMs, maxRestartDelayMs), null, location).catch(() => {})
      }
    }
    recovering = null
    if (current.options.host === first.options.host && current.options.port === first.options.port)
      return
    log?.error('the database address has changed; restart this process')
  }

  async function leave() {
    abort.abort()
    await recovering
    current.lock.stop()
    await current.client.unregister()
  }
  let stopped: Promise<void> | undefined
  async function stop() {
    abort.abort()
    await recovering
    const options = { timeoutMs: stopLockMs }
    await withStartLock(directory, () => stopServer(location, current), options).catch(error => {
      if (!(error instanceof Conflict)) throw error
      return leave()
    })
  }
  const { options, running, isAdopted } = first
  const url = toUrl(options)
  return {
    ...{ options, url, pid: running.pid, adopted: isAdopted, leave },
    stop: () => (stopped ??= stop()),
  }
}

type Connected = { running: RunningServer; client: ClientRegistration; options: ConnectionOptions }
type HostLock = ReturnType<typeof holdHostLock>
type Attached = Connected & { isAdopted: boolean; lock: HostLock }

/** Adopts or starts the server; the caller holds the start lock. */
async function attach(location: Location): Promise<Attached> {
  const { directory, log } = location
  const start = performance.now()
  const adopted = await adopt(location)
  if (!adopted) log?.info({ directory: location.directory }, 'database starting')
  const connected = adopted ?? (await startServer(location))
  location.port = connected.options.port
  const ms = Math.round(performance.now() - start)
  const isAdopted = adopted !== null
  const { pid: serverPid } = connected.running
  log?.info({ serverPid, ms }, isAdopted ? 'database adopted' : 'database started')
  return { ...connected, isAdopted, lock: holdHostLock(directory, version) }
}

async function adopt({
  cluster,
  log,
  programs,
  onLoss,
  signal,
}: Location): Promise<Connected | null> {
  if (!existsSync(join(cluster, 'PG_VERSION'))) return null
  const { native, version: programVersion } = programs
  checkVersion(cluster, majorOf(programVersion))
  const start = performance.now()
  for (;;) {
    const running = readPostmaster(cluster)
    if (!running) return null
    const socket = findSocket(running)
    const options = connectionOptions({ ...running, host: socket ?? running.host }, cluster)
    let isStarting = !running.isReady
    const client = await registerClient(options, onLoss).catch((error: unknown) => {
      const kind = classifyConnectError(error)
      if (kind === 'refused' && isServer(running.pid, cluster)) throw namePassword(error, cluster)
      // The server is recovering from the crash of one of its processes.
      if (kind === 'not ready') isStarting = true
      return null
    })
    if (client?.dataDirectory === cluster) return { running, client, options }
    await client?.unregister()
    if (!isServer(running.pid, cluster)) return null
    // A /tmp cleaner may have removed the socket of a ready server, which does not recreate it.
    const timeoutMs = isStarting ? recoveryMs : socket ? unresponsiveMs : 0
    if (signal.aborted) throw new Conflict('The database is starting')
    if (performance.now() - start > timeoutMs) {
      log?.warn({ serverPid: running.pid }, 'database does not respond, restarting it')
      await shutDown(cluster, running.pid, native)
      return null
    }
    await sleep(50)
  }
}

async function startServer(location: Location): Promise<Connected> {
  const { directory, cluster, onLoss, signal } = location
  await awaitOtherHost(directory, join(cluster, 'postmaster.pid'))
  const lock = holdHostLock(directory, version)
  try {
    const { binaries, user } = await prepare(cluster, location)
    const logFile = join(directory, 'postgres.log')
    const running = await launch(cluster, { binaries, user, logFile, signal })
    try {
      const options = connectionOptions(running, cluster)
      return { running, client: await registerFirstClient(options, onLoss), options }
    } catch (error) {
      await shutDown(cluster, running.pid, binaries.native)
      throw namePassword(error, cluster)
    }
  } catch (error) {
    lock.release()
    throw error
  } finally {
    lock.stop()
  }
}

async function stopServer(
  { cluster, log, throwaway, programs }: Location,
  { client, lock }: { client: ClientRegistration; lock: HostLock },
): Promise<void> {
  const others = await countRemainingClients(client)
  await client.unregister()
  lock.stop()
  if (others > 0) {
    log?.info({ others }, 'database is still in use by other processes')
    return
  }
  const running = readPostmaster(cluster)
  if (running) await shutDown(cluster, running.pid, programs.native)
  if (running?.host.startsWith('/')) rmSync(running.host, { recursive: true, force: true })
  if (throwaway) rmSync(cluster, { recursive: true, force: true })
  lock.release()
  log?.info('database stopped')
}

// The server notices the closed connection of a killed process only after a delay. An unresponsive server has
// no clients.
async function countRemainingClients(client: ClientRegistration): Promise<number> {
  for (let attempts = 10; ; attempts--) {
    const others = await client.countOthers().catch(() => 0)
    if (others === 0 || attempts === 0) return others
    await sleep(50)
  }
}

function openDataDirectory(dataDir: string): string {
  createDataFolder(dataDir)
  // The real path, so that all aliases of the directory share one socket and one server.
  return realpathSync(dataDir)
}

function connectionOptions({ host, port }: RunningServer, cluster: string): ConnectionOptions {
  const password = readPassword(cluster)
  return { host, port, user: superuser, password, database: 'stackroom' }
}

function toUrl({ host, port, user, password, database }: ConnectionOptions): string {
  const url = new URL(`postgres://${user}:${password}@localhost/${database}`)
  url.searchParams.set('host', host)
  url.searchParams.set('port', String(port))
  return url.href
}
