// Creation and update of libraries.
import { isAbsolute } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Viewer, visibleLibrary } from '../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { pathText } from '../../base/path.ts'
import { validateBookStrategy } from '../../media/strategy/book.ts'
import type { Config as StrategyConfig } from '../../media/strategy/config.ts'
import { validateSeriesStrategy } from '../../media/strategy/series.ts'
import { publish } from '../../store/event/publish.ts'
import type { Sql, Transaction } from '../../store/postgres/db.ts'
import type { Queue } from '../../store/queue/queue.ts'
import { changedColumns } from '../metadata/columns.ts'
import { assertNotScanning, enqueueScan } from '../scan/scan-request.ts'
import { findEnclosingLibrary, type LibraryRow } from './library.ts'
import {
  requireSettingsAccess,
  type SettingsAccess,
  type SettingsChange,
} from './library-access.ts'
import { libraryById } from './library-record.ts'
import {
  assertNoOverlap,
  deviceOf,
  type FilesystemConfig,
  lockRoots,
  readableRoot,
} from './library-root.ts'
import {
  type Column,
  defaultLibraryName,
  effectiveScanningConfig,
  initialSettings,
  type Jsonb,
  type LibrarySettings,
  type StoredScanningConfig,
  settingColumns,
} from './library-settings.ts'

type SeriesStrategyFields = {
  seriesStrategy?: string | null | undefined
  seriesConfig?: Record<string, unknown> | null | undefined
}
export type NewLibrary = LibrarySettings &
  SeriesStrategyFields & {
    name: string
    path: string
    scanImmediately?: boolean | null | undefined
  }
export type LibraryUpdate = LibrarySettings &
  SeriesStrategyFields & {
    scanning_config?: LibrarySettings['scanningConfig']
    name?: string | null | undefined
    path?: string | null | undefined
  }

export type LibraryContext = { sql: Sql; queue: Queue; filesystem: FilesystemConfig }

/** Creates a library, enqueues its first scan if requested, and returns its id. Throws Invalid, Conflict, Forbidden. */
export async function createLibrary(
  { sql, queue, filesystem }: LibraryContext,
  access: SettingsAccess,
  library: NewLibrary,
): Promise<string> {
  const { viewer } = access
  const { strategy, config } = seriesStrategyOf(library)
  const settings = settingColumns(library, initialSettings)
  requireSettingsAccess(access, {
    changed: Object.keys(settings),
    followsLinks: library.followLinks === true,
    purgedBefore: false,
    purges: library.scanningConfig?.purgeDeletedOnScan === true,
  })
  const columns = {
    id: newId(),
    name: trimmedName(library.name),
    ...(await readableRoot(library.path, filesystem)),
    series_strategy: strategy,
    series_config: { json: config },
    ...settings,
  }
  await sql.begin(async tx => {
    await assertNoOverlap(tx, columns.root)
    await tx`insert into library ${tx(toSql(tx, columns))}`
    // The creator may see the new library.
    if (viewer.libraries !== null)
      await tx`
        insert into account_library (account_id, library_id)
        select id, ${columns.id} from account where id = ${viewer.accountId} and not all_libraries`
    await invalidateIdentitiesWhileDeleting(tx)
    await publish(tx, [{ type: 'library_created', libraryId: columns.id }])
    if (library.scanImmediately)
      await enqueueScan(tx, queue, { libraryId: columns.id, mode: 'normal' })
  })
  return columns.id
}

/** A new library as the command line creates it. */
export type LibraryDraft = {
  name?: string | undefined
  /** Absolute path as bytes. */
  root: Buffer
  seriesStrategy?: string | undefined
  seriesConfig?: Record<string, unknown> | undefined
  scanningConfig?: LibrarySettings['scanningConfig']
}

/**
 * Returns the library with this root, or creates it; `work` is part of the transaction. Throws Invalid for
 * an unreadable folder or an invalid strategy, and Conflict for one that overlaps another library.
 */
export async function findOrCreateLibrary(
  sql: Sql,
  library: LibraryDraft,
  work?: (tx: Transaction, libraryId: string) => Promise<void>,
): Promise<LibraryRow> {
  const { strategy, config } = seriesStrategyOf(library)
  const path = pathText(library.root)
  if (!isAbsolute(path)) throw new Invalid('The path of a library must be absolute')
  const columns = {
    id: newId(),
    name: trimmedName(library.name ?? defaultLibraryName(path)),
    root: library.root,
    device: await deviceOf(library.root),
    series_strategy: strategy,
    series_config: { json: config },
    ...settingColumns({ scanningConfig: library.scanningConfig }, initialSettings),
  }
  return await sql.begin(async tx => {
    await lockRoots(tx)
    const known = await findEnclosingLibrary(tx, library.root)
    const row = known?.root.equals(library.root) ? known : await insertLibrary(tx, columns)
    await work?.(tx, row.id)
    return row
  })
}

async function insertLibrary(
  tx: Transaction,
  columns: Record<string, Column | Buffer> & { root: Buffer },
) {
  await assertNoOverlap(tx, columns.root)
  const [row] = await tx<[LibraryRow]>`
    insert into library ${tx(toSql(tx, columns))}
    returning id, name, root, book_count as "bookCount"`
  await invalidateIdentitiesWhileDeleting(tx)
  await publish(tx, [{ type: 'library_created', libraryId: row.id }])
  return row
}

/** While a library is being deleted, the identity cache lists the libraries of accounts that see all (lib/accounts/identity.ts). */
async function invalidateIdentitiesWhileDeleting(tx: Transaction) {
  await tx`
    select pg_notify('account', '*')
    where exists (select from library where deleting_at is not null)`
}

/**
 * Updates the present fields. Throws NotFound; Invalid; Forbidden; Conflict for an overlapping folder, or for a new folder or
 * strategy while a scan is active.
 */
export async function updateLibrary(
  { sql, filesystem }: LibraryContext,
  { access, id }: { access: SettingsAccess; id: string },
  change: LibraryUpdate,
): Promise<void> {
  const { viewer } = access
  const newRoot = await resolveNewRoot(sql, filesystem, { viewer, id, path: change.path })
  await sql.begin(async tx => {
    const [current] = await tx<CurrentLibrary[]>`
      select root, series_strategy as strategy, series_config as config,
        book_strategy as "bookStrategy", book_config as "bookConfig",
        number_strategy as "numberStrategy", scanning_config as scanning
      from library l
      where id = ${id} and deleting_at is null and ${visibleLibrary(tx, viewer)}
      for no key update`
    if (!current) throw new NotFound('Library not found')
    const columns: Record<string, Column | Buffer> = {
      ...(typeof change.name === 'string' ? { name: trimmedName(change.name) } : {}),
      ...settingColumns(
        { ...change, scanningConfig: effectiveScanningConfig(change, current.scanning) },
        current,
      ),
      ...seriesStrategyColumns(change, current),
    }
    if (changesStrategies(columns, current)) {
      await assertNotScanning(tx, id, { ignoreWatchScans: true })
      columns.strategies_changed = true
    }
    if (newRoot && !newRoot.root.equals(current.root)) {
      await assertNotScanning(tx, id)
      await assertNoOverlap(tx, newRoot.root, id)
      // The next scan stores the device; until then nothing is known about the folder.
      Object.assign(columns, { root: newRoot.root, device: null })
    }
    if (Object.keys(columns).length === 0) return
    const [row] = await tx<SettingsChange[]>`
      update library l set ${tx(toSql(tx, columns))}, updated_at = now()
      from library old
      where l.id = ${id} and old.id = l.id
      returning ${changedColumns(tx, 'l', 'old')} as changed, l.follow_links as "followsLinks",
        coalesce(old.scanning_config->>'purgeDeletedOnScan' = 'true', false) as "purgedBefore",
        coalesce(l.scanning_config->>'purgeDeletedOnScan' = 'true', false) as purges`
    requireSettingsAccess(access, row!)
    const fields = libraryFields(row!.changed)
    if (fields.length > 0) await publish(tx, [{ type: 'library_updated', libraryId: id, fields }])
  })
}

/** Event fields for changed columns: without derived columns, and `root` under its wire name `path`. */
function libraryFields(columns: readonly string[]): string[] {
  return columns
    .filter(
      column =>
        !['updated_at', 'schedule_changed_at', 'device', 'strategies_changed'].includes(column),
    )
    .map(column => (column === 'root' ? 'path' : column))
}

type RootChange = { viewer: Viewer; id: string; path: string | null | undefined }

/** Null when the path is unchanged, even if unreachable. Runs outside the transaction, which should not wait for a disk. */
async function resolveNewRoot(
  sql: Sql,
  filesystem: FilesystemConfig,
  { viewer, id, path }: RootChange,
) {
  const library = await libraryById(sql, viewer, id)
  if (typeof path !== 'string' || path === library.path) return null
  return await readableRoot(path, filesystem)
}

type CurrentLibrary = {
  root: Buffer
  strategy: string
  config: StrategyConfig
  bookStrategy: string
  bookConfig: StrategyConfig
  numberStrategy: string
  scanning: StoredScanningConfig
}

/** Changing the strategy resets its configuration: the previous strategy's keys do not apply. */
function seriesStrategyColumns(
  { seriesStrategy, seriesConfig }: SeriesStrategyFields,
  current: CurrentLibrary,
): Record<string, Column> {
  const requested = seriesStrategyOf({
    seriesStrategy: seriesStrategy ?? current.strategy,
    seriesConfig,
  })
  const isSame = requested.strategy === canonicalStrategy(current.strategy)
  if (isSame && (seriesConfig === undefined || seriesConfig === null)) return {}
  return { series_strategy: requested.strategy, series_config: { json: requested.config } }
}

/** Whether the new values differ from the current strategies; clients send whole libraries back. */
function changesStrategies(columns: Record<string, Column | Buffer>, current: CurrentLibrary) {
  const stored = {
    series_strategy: canonicalStrategy(current.strategy),
    series_config: validateSeriesStrategy(canonicalStrategy(current.strategy), current.config),
    book_strategy: current.bookStrategy,
    book_config: validateBookStrategy(current.bookStrategy, current.bookConfig),
    number_strategy: current.numberStrategy,
  }
  return Object.entries(stored).some(([name, before]) => {
    const value = columns[name]
    if (value === undefined) return false
    return !isDeepStrictEqual(isJsonb(value) ? value.json : value, before)
  })
}

function seriesStrategyOf({ seriesStrategy, seriesConfig }: SeriesStrategyFields) {
  const strategy = canonicalStrategy(seriesStrategy ?? 'series_volume')
  return { strategy, config: validateSeriesStrategy(strategy, seriesConfig ?? {}) }
}

const canonicalStrategy = (strategy: string) =>
  strategy === 'default' ? 'series_volume' : strategy

function trimmedName(name: string): string {
  const trimmed = name.trim()
  if (trimmed === '') throw new Invalid('name must not be empty', { reason: 'name_empty' })
  return trimmed
}

function toSql(tx: Transaction, columns: Record<string, Column | Buffer>) {
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
