// Availability of a library folder: an unmounted or replaced disk must not look like an empty library.
import { lstat, opendir, stat } from 'node:fs/promises'
import { isShortage, NotResponding, shortage } from '../../lib/base/errors.ts'
import type { Log } from '../../lib/base/log.ts'
import { joinPath } from '../../lib/base/path.ts'
import { mountHealth, mountKey } from '../../lib/store/mount/mount-health.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { LoadedScan } from './scan-context.ts'

/**
 * Why the library must not be compared now, in words for users; null if it may be. Throws NotResponding,
 * Shortage.
 */
export const unavailableReason = (sql: Sql, scan: LoadedScan): Promise<string | null> =>
  mountHealth.run(mountKey(scan.root), () => findReason(sql, scan))

async function findReason(sql: Sql, scan: LoadedScan): Promise<string | null> {
  const root = Buffer.from(scan.root)
  let device: string
  try {
    const rootStat = await stat(root)
    if (!rootStat.isDirectory())
      return 'The library folder is not a folder; correct the path of the library and scan again'
    device = String(rootStat.dev)
    if (scan.bookCount > 0 && (await isEmpty(root))) {
      return `The library folder is empty, but the catalog contains ${scan.bookCount} of its books; mount its disk and scan again`
    }
  } catch (error) {
    if (isShortage(error)) throw shortage(error)
    const { code = '' } = error as NodeJS.ErrnoException
    return `The library folder cannot be read (${code}); ${adviceOn(code)} and scan again`
  }
  if (scan.device === null || scan.device === device || scan.bookCount === 0) return null
  // Device numbers also change when a file system is remounted; then the books are in place.
  return (await holdsItsBooks(sql, scan))
    ? null
    : 'The library folder is on a different device than before and does not contain its books; mount its disk and scan again'
}

const adviceOn = (code: string) =>
  code === 'EACCES' || code === 'EPERM'
    ? 'give the account of the server permission to read it'
    : 'mount its disk, or correct the path of the library,'

/** True if more than half of a sample of the books is in place. */
async function holdsItsBooks(sql: Sql, scan: LoadedScan): Promise<boolean> {
  const sample = await sql<{ folder: Uint8Array; name: Uint8Array }[]>`
    select d.path as folder, b.name
    from book b
    join directory d on d.id = b.directory_id
    where b.library_id = ${scan.libraryId} and b.missing_at is null
    limit 20`
  const results = await Promise.all(
    sample.map(row =>
      lstat(joinPath(scan.root, joinPath(row.folder, row.name))).then(
        () => true,
        () => false,
      ),
    ),
  )
  return results.filter(Boolean).length * 2 > sample.length
}

/** Why a scan that will run again is pausing, in words for users; null for other errors. */
export function pauseMessage(error: unknown): string | null {
  if (error instanceof NotResponding)
    return 'The library folder does not respond; the scan resumes when it does'
  return isShortage(error)
    ? 'The server lacks file descriptors or memory; the scan resumes automatically'
    : null
}

/** st_dev of the library folder; null if stat fails. Throws NotResponding. */
export async function deviceOf({ root }: Pick<LoadedScan, 'root'>): Promise<string | null> {
  try {
    const { dev } = await mountHealth.run(mountKey(root), () => stat(Buffer.from(root)))
    return String(dev)
  } catch (error) {
    if (error instanceof NotResponding) throw error
    return null
  }
}

async function isEmpty(root: Buffer): Promise<boolean> {
  const folder = await opendir(root)
  try {
    return (await folder.read()) === null
  } finally {
    await folder.close()
  }
}

/** Logs one line when the folder becomes unavailable, and one when it is back. */
export async function logAvailability(
  { sql, log }: { sql: Sql; log: Log },
  { scanId, libraryId }: LoadedScan,
  reason: string | null,
) {
  const [last] = await sql<{ state: string }[]>`
    select state from scan
    where library_id = ${libraryId} and id <> ${scanId} and finished_at is not null
    order by number desc
    limit 1`
  const wasUnavailable = last?.state === 'unavailable'
  if (reason && !wasUnavailable) log.warn({ libraryId, reason }, 'library folder is unavailable')
  if (!reason && wasUnavailable) log.info({ libraryId }, 'library folder is available again')
}
