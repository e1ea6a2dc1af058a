// Making libraries and changing them, as users ask for it.
import { isDeepStrictEqual } from 'node:util'
import type { Sql, TransactionSql } from 'postgres'
import { seesLibrary, type Viewer } from '../../auth/viewer.ts'
import { Invalid, NotFound } from '../../errors.ts'
import { tell } from '../../event/publish.ts'
import { newId } from '../../id.ts'
import type { Queue } from '../../queue/queue.ts'
import type { Config as StrategyConfig } from '../../strategy/config.ts'
import { validateStrategy } from '../../strategy/series.ts'
import { changedColumns } from '../metadata/change-events.ts'
import { enqueueScan, refuseWhileScanned } from '../scan/scan-request.ts'
import { libraryById } from './library-record.ts'
import { type Grounds, readableRoot, refuseOverlap } from './library-root.ts'
import {
  type Column,
  type Jsonb,
  type Rules,
  ruleColumns,
  type StoredScanning,
  scanningMeant,
} from './library-rules.ts'

type SeriesRules = {
  seriesStrategy?: string | null | undefined
  seriesConfig?: Record<string, unknown> | null | undefined
}
export type NewLibrary = Rules &
  SeriesRules & { name: string; path: string; scanImmediately?: boolean | null | undefined }
export type LibraryChange = Rules &
  SeriesRules & {
    scanning_config?: Rules['scanningConfig']
    name?: string | null | undefined
    path?: string | null | undefined
  }

export type Writing = { sql: Sql; queue: Queue; grounds: Grounds }

/** Makes a library, enqueues its first scan if asked, and answers its id. Throws Invalid, Conflict. */
export async function makeLibrary(
  { sql, queue, grounds }: Writing,
  viewer: Viewer,
  library: NewLibrary,
): Promise<string> {
  const { strategy, config } = seriesRules(library)
  const columns = {
    id: newId(),
    name: nameOf(library.name),
    ...(await readableRoot(library.path, grounds)),
    series_strategy: strategy,
    series_config: { json: config },
    ...ruleColumns(library, 'metadata_first'),
  }
  await sql.begin(async tx => {
    await refuseOverlap(tx, columns.root)
    await tx`insert into library ${tx(inSql(tx, columns))}`
    // Whoever makes a library sees it.
    if (viewer.libraries !== null)
      await tx`
        insert into account_library (account_id, library_id)
        select id, ${columns.id} from account where id = ${viewer.accountId} and not all_libraries`
    await tx`
      select pg_notify('account', '*')
      where exists (select from library where deleting_at is not null)`
    await tell(tx, [{ type: 'library_created', libraryId: columns.id }])
    if (library.scanImmediately)
      await enqueueScan(tx, queue, { libraryId: columns.id, mode: 'normal' })
  })
  return columns.id
}

/**
 * Changes what is given. Throws NotFound; Invalid, also for another series strategy, which is fixed;
 * Conflict for a folder of another library, or a new folder while the library is scanned.
 */
export async function changeLibrary(
  { sql, grounds }: Writing,
  { viewer, id }: { viewer: Viewer; id: string },
  change: LibraryChange,
): Promise<void> {
  const place = await newPlace(sql, grounds, { viewer, id, path: change.path })
  await sql.begin(async tx => {
    const [now] = await tx<Current[]>`
      select root, series_strategy as strategy, series_config as config,
        book_strategy as "bookStrategy", scanning_config as scanning
      from library l
      where id = ${id} and deleting_at is null and ${seesLibrary(tx, viewer)}
      for no key update`
    if (!now) throw new NotFound('Library not found')
    refuseOtherStrategy(change, now)
    const columns: Record<string, Column | Buffer> = {
      ...(typeof change.name === 'string' ? { name: nameOf(change.name) } : {}),
      ...ruleColumns(
        { ...change, scanningConfig: scanningMeant(change, now.scanning) },
        now.bookStrategy,
      ),
    }
    if (place && !place.root.equals(now.root)) {
      await refuseWhileScanned(tx, id)
      await refuseOverlap(tx, place.root, id)
      Object.assign(columns, place)
    }
    if (Object.keys(columns).length === 0) return
    const [row] = await tx<{ changed: string[] }[]>`
      update library l set ${tx(inSql(tx, columns))}, updated_at = now()
      from library old
      where l.id = ${id} and old.id = l.id
      returning ${changedColumns(tx, 'l', 'old')} as changed`
    const fields = libraryFields(row!.changed)
    if (fields.length > 0) await tell(tx, [{ type: 'library_updated', libraryId: id, fields }])
  })
}

/** Columns as fields of events: the folder is called by its path, and what follows from others is not told. */
function libraryFields(columns: readonly string[]): string[] {
  return columns
    .filter(column => !['updated_at', 'scheduled_at', 'device'].includes(column))
    .map(column => (column === 'root' ? 'path' : column))
}

type Move = { viewer: Viewer; id: string; path: string | null | undefined }

/** Where the library is to be from now on; null when it stays, even if its disk is away. Asked outside of a transaction, which should wait for no disk. */
async function newPlace(sql: Sql, grounds: Grounds, { viewer, id, path }: Move) {
  const library = await libraryById(sql, viewer, id)
  if (typeof path !== 'string' || path === library.path) return null
  return await readableRoot(path, grounds)
}

type Current = {
  root: Buffer
  strategy: string
  config: StrategyConfig
  bookStrategy: string
  scanning: StoredScanning
}

/** The folders of a library became series by it; another would leave them under keys that mean nothing. */
function refuseOtherStrategy(change: SeriesRules, { strategy, config }: Current) {
  const wanted = change.seriesStrategy ?? strategy
  const isSame = standard(wanted) === standard(strategy)
  const hasConfig = change.seriesConfig !== undefined && change.seriesConfig !== null
  if (isSame && !hasConfig) return
  const given = isSame && validateStrategy(standard(wanted), change.seriesConfig)
  const full = validateStrategy(standard(strategy), config)
  if (!isSame || !isDeepStrictEqual(given, full))
    throw new Invalid('The series strategy of a library is fixed when it is made')
}

function seriesRules({ seriesStrategy, seriesConfig }: SeriesRules) {
  const strategy = standard(seriesStrategy ?? 'series_volume')
  return { strategy, config: validateStrategy(strategy, seriesConfig ?? {}) }
}

const standard = (strategy: string) => (strategy === 'default' ? 'series_volume' : strategy)

function nameOf(name: string): string {
  const trimmed = name.trim()
  if (trimmed === '') throw new Invalid('name must not be empty')
  return trimmed
}

function inSql(tx: TransactionSql, columns: Record<string, Column | Buffer>) {
  return Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [
      name,
      isJsonb(value) ? tx.json(value.json as never) : value,
    ]),
  )
}

function isJsonb(value: Column | Buffer): value is Jsonb {
  return typeof value === 'object' && value !== null && 'json' in value
}
