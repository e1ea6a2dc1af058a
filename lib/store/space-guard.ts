// Space guard: watches free space in the folders that this process writes to, and pauses work that would fill
// them.
import { statfsSync, statSync } from 'node:fs'
import { mkdir, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import type { Config } from './config/config.ts'

/** What is stored where: the catalog, thumbnails, uploaded covers, rendered pages. */
export type StorageArea = 'database' | 'thumbnails' | 'covers' | 'cache'

/**
 * `folder` is the data directory unless the area has its own disk. `freeBytes` is null if the folder refused
 * a write (a full disk or quota) or its space is unknown.
 */
export type AreaState = {
  area: StorageArea
  folder: string
  freeBytes: number | null
  requiredBytes: number
  isShort: boolean
}

export type SpaceGuard = {
  /** The first of these areas that is short of space; checks all areas by default. */
  shortage(areas?: readonly StorageArea[]): AreaState | null
  states(): readonly AreaState[]
  /** Reports that a write to the area failed for lack of space; it is short until a write succeeds. */
  reportFull(area: StorageArea): void
  /** Resolves when none of the areas is short, or soon after `isStopped`. */
  whenEnough(areas: readonly StorageArea[], isStopped: () => boolean): Promise<void>
  close(): void
}

type Options = {
  config: Pick<Config, 'data_dir' | 'database' | 'files'>
  log: Pick<Log, 'warn' | 'info'>
  /** Measures free and total bytes of a folder; for tests. */
  measure?: (folder: string) => Space
}
type Space = { freeBytes: number; totalBytes: number; device: number | null }
type Area = AreaState & {
  /** The area's folder; null on another host. */
  path: string | null
  isRefusing: boolean
  retryAt: number
}

const pollMs = 1_000
const megabyte = 1024 * 1024
const probeBytes = megabyte
const probeRetryMs = 3_000
// Work resumes when there is noticeably more space than required, to avoid pausing every other second.
const resumeFactor = 1.1

/** Folders need not exist yet. Null: an external server stores the catalog on its own disk. */
function foldersOf(databaseUrl: string | null, dataDir: string): [StorageArea, string | null][] {
  return [
    ['database', databaseUrl === null ? join(dataDir, 'postgres') : null],
    ['thumbnails', join(dataDir, 'thumbnails')],
    ['covers', join(dataDir, 'covers')],
    ['cache', join(dataDir, 'cache')],
  ]
}

/** The first check runs immediately, further ones every second. */
export function openSpaceGuard({ config, log, measure }: Options): SpaceGuard {
  const dataDir = resolve(config.data_dir)
  const areas = foldersOf(config.database.url, dataDir).map(
    ([area, folder]): Area => ({
      ...{ area, folder: folder ?? 'The disk of the database server', path: folder },
      ...{ freeBytes: null, requiredBytes: 0, isShort: false, isRefusing: false, retryAt: 0 },
    }),
  )
  let isChecking = false

  /** Returns true if the area became short, or no longer is. */
  function apply(area: Area, space: Space | null, data: Space | null): boolean {
    const isOwnDisk = space !== null && space.device !== data?.device
    if (area.path !== null) area.folder = isOwnDisk || area.isRefusing ? area.path : dataDir
    // On a small disk, a third has to be free.
    const totalBytes = space?.totalBytes ?? Number.POSITIVE_INFINITY
    area.requiredBytes = Math.min(config.files.min_free_mb * megabyte, totalBytes / 3)
    area.freeBytes = space?.freeBytes ?? null
    const needed = area.requiredBytes * (area.isShort ? resumeFactor : 1)
    const isShort = area.isRefusing || (space !== null && space.freeBytes < needed)
    const hasChanged = isShort !== area.isShort
    area.isShort = isShort
    return hasChanged
  }

  /** One message for all areas on a disk. */
  function report(changed: readonly Area[]) {
    for (const area of new Map(changed.map(area => [area.folder, area])).values()) {
      const details = { folder: area.folder, freeBytes: area.freeBytes }
      if (area.isShort)
        log.warn(details, `${shortageMessage(area)}. Work is paused${resumption(area)}`)
      else log.info(details, 'there is enough space again')
    }
  }

  const measured = async (path: string) => (measure ? measure(path) : await spaceAt(path))

  async function check(area: Area, data: Space | null): Promise<boolean> {
    const { path } = area
    if (area.isRefusing && performance.now() >= area.retryAt) {
      // On another host, only the work itself can detect this.
      area.isRefusing = path !== null && !(await acceptsWrite(path))
      area.retryAt = performance.now() + probeRetryMs
    }
    return apply(area, path === null ? null : await measured(path), data)
  }

  async function checkAll() {
    // A network disk may take longer to respond than the interval.
    if (isChecking) return
    isChecking = true
    const data = await measured(dataDir)
    const changed: Area[] = []
    for (const area of areas) if (await check(area, data)) changed.push(area)
    report(changed)
    isChecking = false
  }

  const now = (path: string) => (measure ? measure(path) : spaceNow(path))
  report(areas.filter(area => area.path !== null && apply(area, now(area.path), now(dataDir))))
  const timer = setInterval(checkAll, pollMs).unref()

  const shortage = (names?: readonly StorageArea[]) =>
    areas.find(({ area, isShort }) => isShort && (names?.includes(area) ?? true)) ?? null

  return {
    shortage,
    states: () => areas,
    reportFull(name) {
      for (const area of areas) {
        if (area.area !== name || area.isRefusing) continue
        Object.assign(area, { isRefusing: true, retryAt: performance.now() + probeRetryMs })
        if (apply(area, null, null)) report([area])
      }
    },
    async whenEnough(names, isStopped) {
      while (shortage(names) && !isStopped()) await sleep(100)
    },
    close: () => clearInterval(timer),
  }
}

function resumption({ freeBytes, requiredBytes }: AreaState): string {
  if (freeBytes === null) return ''
  return ` until ${Math.ceil((requiredBytes * resumeFactor) / megabyte - 1e-6)} MB are free`
}

/** One sentence for the operator that names the folder. */
export function shortageMessage({ folder, freeBytes, requiredBytes }: AreaState): string {
  const megabytes = (bytes: number) =>
    bytes < megabyte ? `${(bytes / megabyte).toFixed(1)} MB` : `${Math.floor(bytes / megabyte)} MB`
  if (freeBytes === null) return `${folder} accepts no more files: its disk or quota is full`
  return (
    `Only ${megabytes(freeBytes)} are free in ${folder}, less than the ${megabytes(requiredBytes)} that ` +
    'files.min_free_mb requires'
  )
}

type Stats = { bavail: number; blocks: number; bsize: number }

const toSpace = ({ bavail, blocks, bsize }: Stats, device: number): Space => ({
  ...{ freeBytes: bavail * bsize, totalBytes: blocks * bsize, device },
})

/** Space of the folder, or if it does not exist, of the one it will be created in; null if unknown. */
async function spaceAt(folder: string): Promise<Space | null> {
  try {
    return toSpace(await statfs(folder), (await stat(folder)).dev)
  } catch (error) {
    return isAbsent(error) && dirname(folder) !== folder ? spaceAt(dirname(folder)) : null
  }
}

function spaceNow(folder: string): Space | null {
  try {
    return toSpace(statfsSync(folder), statSync(folder).dev)
  } catch (error) {
    return isAbsent(error) && dirname(folder) !== folder ? spaceNow(dirname(folder)) : null
  }
}

const isAbsent = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** Quotas do not show in a file system's free space: only a write reveals them. */
async function acceptsWrite(folder: string): Promise<boolean> {
  const path = join(folder, `.space-${process.pid}`)
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(path, Buffer.alloc(probeBytes, 1))
    return true
  } catch {
    return false
  } finally {
    await rm(path, { force: true }).catch(() => {})
  }
}
