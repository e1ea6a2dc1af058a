// Libraries of the Komga-compatible API.
import type { Sql } from 'postgres'
import { NotFound } from '../../base/errors.ts'
import { pathText } from '../../base/path.ts'
import { component, list, nullable, oneOf, type Static, Type } from '../../base/schema.ts'
import { isVisible } from '../../catalog/library/library.ts'
import {
  readScanningConfig,
  type StoredScanningConfig,
} from '../../catalog/library/library-settings.ts'
import { comicFormats, type FormatName } from '../../media/format/formats.ts'
import { mountHealth, mountKey } from '../../store/mount/mount-health.ts'
import { flag, flags, type Reader, texts } from './values.ts'

export const scanIntervals = [
  'DISABLED',
  'HOURLY',
  'EVERY_6H',
  'EVERY_12H',
  'DAILY',
  'WEEKLY',
] as const
export const seriesCovers = [
  'FIRST',
  'FIRST_UNREAD_OR_FIRST',
  'FIRST_UNREAD_OR_LAST',
  'LAST',
] as const

/** The schedules for Komga's intervals. */
export const cronOfInterval: Readonly<
  Record<Exclude<(typeof scanIntervals)[number], 'DISABLED'>, string>
> = {
  HOURLY: '0 * * * *',
  EVERY_6H: '0 */6 * * *',
  EVERY_12H: '0 */12 * * *',
  DAILY: '0 3 * * *',
  WEEKLY: '0 3 * * 1',
}

export const LibraryDto = component('LibraryDto', {
  ...texts('id', 'name', 'root'),
  ...flags('importComicInfoBook', 'importComicInfoSeries', 'importComicInfoCollection'),
  ...flags('importComicInfoReadList', 'importComicInfoSeriesAppendVolume', 'importEpubBook'),
  ...flags('importEpubSeries', 'importMylarSeries', 'importLocalArtwork', 'importBarcodeIsbn'),
  scanForceModifiedTime: flag(),
  scanInterval: oneOf(scanIntervals),
  ...flags('scanOnStartup', 'scanCbx', 'scanPdf', 'scanEpub'),
  scanDirectoryExclusions: list(Type.String()),
  ...flags('repairExtensions', 'convertToCbz', 'emptyTrashAfterScan'),
  seriesCover: oneOf(seriesCovers),
  ...flags('hashFiles', 'hashPages', 'hashKoreader', 'analyzeDimensions'),
  oneshotsDirectory: nullable(Type.String()),
  unavailable: flag(),
})
export type LibraryDto = Static<typeof LibraryDto>

type Row = {
  id: string
  name: string
  root: Buffer
  formats: FormatName[] | null
  exclusions: string
  hashPolicy: string
  scanning: StoredScanningConfig
}

/** All libraries that the caller may see, by name. */
export const libraryDtos = (sql: Sql, reader: Reader): Promise<LibraryDto[]> =>
  select(sql, reader, null)

/** Throws NotFound for an unknown library, or one hidden from the viewer. */
export async function libraryDto(sql: Sql, reader: Reader, id: string): Promise<LibraryDto> {
  const [library] = await select(sql, reader, id)
  if (!library) throw new NotFound('Library not found')
  return library
}

async function select(sql: Sql, { viewer, isAdmin }: Reader, id: string | null) {
  const rows = await sql<Row[]>`
    select l.id, l.name, l.root, l.allowed_formats as formats, l.excluded_patterns as exclusions,
      l.hash_policy as "hashPolicy", l.scanning_config as scanning
    from library l
    where ${isVisible(sql, viewer)} and ${id === null ? sql`true` : sql`l.id = ${id}`}
    order by lower(l.name), l.id`
  return rows.map(row => toLibrary(row, isAdmin))
}

function toLibrary(row: Row, isAdmin: boolean): LibraryDto {
  const scanning = readScanningConfig(row.scanning)
  const reads = (...formats: readonly FormatName[]) =>
    row.formats === null || formats.some(format => row.formats!.includes(format))
  return {
    ...{ id: row.id, name: row.name, root: isAdmin ? pathText(row.root) : '' },
    // All metadata in files is read, in one pass.
    ...{ importComicInfoBook: true, importComicInfoSeries: true, importEpubBook: true },
    ...{ importEpubSeries: true, importMylarSeries: true, importLocalArtwork: true },
    ...{ importComicInfoCollection: false, importComicInfoReadList: false },
    ...{ importComicInfoSeriesAppendVolume: false, importBarcodeIsbn: false },
    scanForceModifiedTime: false,
    scanInterval: intervalOf(scanning),
    scanOnStartup: scanning?.scanOnStart ?? false,
    ...{ scanCbx: reads(...comicFormats), scanPdf: reads('pdf'), scanEpub: reads('epub') },
    scanDirectoryExclusions: row.exclusions.split(/\r?\n/).filter(line => line.trim() !== ''),
    ...{ repairExtensions: false, convertToCbz: false },
    emptyTrashAfterScan: scanning?.purgeDeletedOnScan ?? false,
    seriesCover: 'FIRST',
    ...{ hashFiles: row.hashPolicy !== 'off', hashPages: false, hashKoreader: true },
    analyzeDimensions: true,
    oneshotsDirectory: null,
    unavailable: mountHealth.isHung(mountKey(row.root)),
  }
}

/** The interval of a schedule; a schedule that Komga does not support is shown as the nearest interval. */
function intervalOf(scanning: ReturnType<typeof readScanningConfig>) {
  if (!scanning?.enabled || scanning.cronSchedule === null) return 'DISABLED'
  const [minute, hour = '*', day = '*', , weekday = '*'] = scanning.cronSchedule.trim().split(/\s+/)
  if (minute === undefined || hour === '*') return 'HOURLY'
  if (weekday !== '*' || day !== '*') return 'WEEKLY'
  const step = /^\*\/(\d+)$/.exec(hour)
  if (!step) return hour.includes(',') ? 'EVERY_12H' : 'DAILY'
  return Number(step[1]) < 6 ? 'HOURLY' : Number(step[1]) < 12 ? 'EVERY_6H' : 'EVERY_12H'
}
