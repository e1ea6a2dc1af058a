// Space guard: free space of the folders that this process writes to. Work that would fill them pauses.
import { statfsSync } from 'node:fs'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from './config/config.ts'
import type { Log } from './log.ts'

/** What is stored where: the catalogue, thumbnails, uploaded covers, rendered pages. */
export type StorageArea = 'database' | 'thumbnails' | 'covers' | 'cache'

/** `freeBytes` is null when the folder refused a write (a full disk or a quota) or its space is unknown. */
export type AreaState = {
  area: StorageArea
  folder: string
  freeBytes: number | null
  requiredBytes: number
  isShort: boolean
}

export type SpaceGuard = {
  /** The first of these areas that is short of space; of all areas by default. */
  shortage(areas?: readonly StorageArea[]): AreaState | null
  states(): readonly AreaState[]
  /** A write into the area failed for lack of space; it is short until a write succeeds. */
  reportFull(area: StorageArea): void
  /** Resolves when none of the areas is short, or soon after `isStopped`. */
  whenEnough(areas: readonly StorageArea[], isStopped: () => boolean): Promise<void>
  close(): void
}

type Options = {
  config: Pick<Config, 'data_dir' | 'database' | 'files'>
  log: Pick<Log, 'warn' | 'info'>
  /** Free and total bytes of a folder, for tests. */
  measure?: (folder: string) => Space
}
type Space = { freeBytes: number; totalBytes: number }
type Area = AreaState & { isExternal: boolean; isRefusing: boolean; retryAt: number }

const pollMs = 1_000
const megabyte = 1024 * 1024
const probeBytes = megabyte
const probeRetryMs = 3_000
// Work goes on when there is noticeably more than required, so that it does not pause every other second.
const resumeFactor = 1.1

/** Folders need not exist yet. Null: an external server stores the catalogue, on a disk of its own. */
function foldersOf({ data_dir, database }: Options['config']): [StorageArea, string | null][] {
  const dataDir = resolve(data_dir)
  return [
    ['database', database.url === null ? join(dataDir, 'postgres') : null],
    ['thumbnails', join(dataDir, 'thumbnails')],
    ['covers', join(dataDir, 'covers')],
    ['cache', join(dataDir, 'cache')],
  ]
}

/** The first check is made at once, the others every second. */
export function openSpaceGuard({ config, log, measure }: Options): SpaceGuard {
  const areas = foldersOf(config).map(
    ([area, folder]): Area => ({
      ...{ area, folder: folder ?? 'the folder of the database', isExternal: folder === null },
      ...{ freeBytes: null, requiredBytes: 0, isShort: false, isRefusing: false, retryAt: 0 },
    }),
  )
  let isChecking = false

  function apply(area: Area, space: Space | null) {
    // A small disk may be filled up to a third.
    const totalBytes = space?.totalBytes ?? Number.POSITIVE_INFINITY
    area.requiredBytes = Math.min(config.files.min_free_mb * megabyte, totalBytes / 3)
    area.freeBytes = space?.freeBytes ?? null
    const needed = area.requiredBytes * (area.isShort ? resumeFactor : 1)
    const isShort = area.isRefusing || (space !== null && space.freeBytes < needed)
    if (isShort === area.isShort) return
    area.isShort = isShort
    const details = { folder: area.folder, freeBytes: area.freeBytes }
    if (isShort) log.warn(details, shortageMessage(area))
    else log.info(details, 'there is enough space again')
  }

  async function check(area: Area) {
    const space = area.isExternal
      ? null
      : measure
        ? measure(area.folder)
        : await spaceAt(area.folder)
    if (area.isRefusing && performance.now() >= area.retryAt) {
      // Another host: only the work itself can find out.
      area.isRefusing = !area.isExternal && !(await acceptsWrite(area.folder))
      area.retryAt = performance.now() + probeRetryMs
    }
    apply(area, space)
  }

  async function checkAll() {
    // A network disk may take longer to respond than the interval.
    if (isChecking) return
    isChecking = true
    for (const area of areas) await check(area).catch(() => {})
    isChecking = false
  }

  for (const area of areas.filter(({ isExternal }) => !isExternal))
    apply(area, measure ? measure(area.folder) : spaceNow(area.folder))
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
        apply(area, null)
      }
    },
    async whenEnough(names, isStopped) {
      while (shortage(names) && !isStopped()) await sleep(100)
    },
    close: () => clearInterval(timer),
  }
}

/** One sentence for the operator; it names the folder. */
export function shortageMessage({ folder, freeBytes, requiredBytes }: AreaState): string {
  const megabytes = (bytes: number) => `${Math.floor(bytes / megabyte)} MB`
  if (freeBytes === null)
    return `${folder} cannot be written to: its disk or quota is full. The work pauses until there is space`
  return (
    `Only ${megabytes(freeBytes)} are free in ${folder}, less than the ${megabytes(requiredBytes)} that ` +
    'files.min_free_mb requires. The work pauses until there is more space'
  )
}

const spaceOf = (stats: { bavail: number; blocks: number; bsize: number }): Space => ({
  freeBytes: stats.bavail * stats.bsize,
  totalBytes: stats.blocks * stats.bsize,
})

/** Space of the folder, or while it does not exist of the one in which it will be created; null if unknown. */
async function spaceAt(folder: string): Promise<Space | null> {
  return await statfs(folder).then(spaceOf, error =>
    error.code === 'ENOENT' && dirname(folder) !== folder ? spaceAt(dirname(folder)) : null,
  )
}

function spaceNow(folder: string): Space | null {
  try {
    return spaceOf(statfsSync(folder))
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return isAbsent && dirname(folder) !== folder ? spaceNow(dirname(folder)) : null
  }
}

/** Quotas are not part of the free space of a file system: only a write tells. */
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
