// Writes a backup: one consistent snapshot of the database, the uploaded covers, and the key of the secrets if there is
// a passphrase for it. Memory does not depend on the size of the catalog.
import { stat, statfs } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { Invalid, Unavailable } from '../base/errors.ts'
import { version } from '../base/version.ts'
import { type CoverFolders, coverFolders, originalPath } from '../catalog/cover/cover-files.ts'
import { thumbnailPath } from '../media/image/thumbnail-path.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { readKeyText } from '../store/secret/key-file.ts'
import type { Secrets } from '../store/secret/secrets.ts'
import { sourcesWithSecrets } from '../store/secret/stored.ts'
import { type ArchiveWriter, writeArchive } from './archive.ts'
import {
  coversFolder,
  keysEntry,
  type Manifest,
  manifestEntry,
  manifestFormat,
  pieceEntry,
  type TableManifest,
  thumbnailsFolder,
} from './manifest.ts'
import { type Piece, packRows } from './pieces.ts'
import { sealKeys } from './sealed-keys.ts'
import { copyOut, type Scope, sequencesIn, type Table, tablesIn } from './tables.ts'
import { verifyBackup } from './verify.ts'

export type BackupOptions = {
  sql: Sql
  /** File to write; must not exist. */
  file: string
  dataDir: string
  secrets: Secrets
  passphrase?: string | undefined
  scope?: Scope
  /** Pauses while rows are read, so that requests to the same database take hardly longer. */
  isGentle?: boolean
  signal?: AbortSignal | undefined
}

// COPY text compresses to a quarter of the tables and less; a table is larger than its rows as text.
const compressedShare = 0.3

/**
 * Writes `file` and verifies it by reading it again. Throws Invalid (folder), Conflict (exists), Unavailable (disk
 * space), and the reason of `signal`.
 */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const file = resolve(options.file)
  const { sql, scope = 'portable', isGentle = false, signal } = options
  await assertFolder(file)
  let manifest: Manifest | null = null
  await writeArchive(
    file,
    archive =>
      sql.begin('isolation level repeatable read read only', async tx => {
        await tx`set local statement_timeout = 0`
        await tx`set local idle_in_transaction_session_timeout = 0`
        await tx`set local datestyle = 'ISO'`
        await tx`set local intervalstyle = 'postgres'`
        await tx`set local timezone = 'UTC'`
        await tx`set local bytea_output = 'hex'`
        await tx`set local extra_float_digits = 1`
        const tables = await tablesIn(tx, scope)
        if (tables.length === 0)
          throw new Invalid('The database is empty: there is nothing to back up')
        await assertSpace(file, tables)
        const target = { archive, scope, isGentle, signal }
        const written: TableManifest[] = []
        for (const table of tables) written.push(await writeTable(tx, table, target))
        const covers = scope === 'all' ? [] : await coverPaths(tx, coverFolders(options.dataDir))
        manifest = {
          ...(await head(tx, options, archive)),
          tables: written,
          covers: await writeCovers(covers, target),
        }
        await archive.add(manifestEntry, Buffer.from(JSON.stringify(manifest, null, 1)))
      }),
    partial => verifyBackup(partial, signal).then(() => {}),
  )
  return manifest!
}

type Target = {
  archive: ArchiveWriter
  scope: Scope
  isGentle: boolean
  signal: AbortSignal | undefined
}

async function writeTable(
  tx: Transaction,
  table: Table,
  { archive, scope, isGentle, signal }: Target,
): Promise<TableManifest> {
  const pieces: TableManifest['pieces'] = []
  const store = async ({ packed, bytes, sha256 }: Piece) => {
    signal?.throwIfAborted()
    await archive.add(pieceEntry(table.name, pieces.length), packed)
    pieces.push({ bytes, sha256 })
  }
  const rows = await copyOut(tx, table, scope).readable()
  return {
    name: table.name,
    columns: table.columns,
    ...(await packRows(rows, store, { isGentle })),
    pieces,
  }
}

type Head = Omit<Manifest, 'tables' | 'covers'>

async function head(
  tx: Transaction,
  { secrets, passphrase }: BackupOptions,
  archive: ArchiveWriter,
): Promise<Head> {
  const migrations = await tx<Manifest['migrations'][number][]>`
    select number, name, sha256 from schema_migration order by number`
  const [server] = await tx<[{ postgres: string }]>`
    select current_setting('server_version') as postgres`
  if (passphrase !== undefined)
    await archive.add(keysEntry, await sealKeys(readKeyText(secrets.file), passphrase))
  return {
    format: manifestFormat,
    version,
    createdAt: new Date().toISOString(),
    postgres: server.postgres,
    migrations: [...migrations],
    sequences: [...(await sequencesIn(tx))],
    hasKeys: passphrase !== undefined,
    sourcesWithSecrets: await sourcesWithSecrets(tx),
  }
}

type CoverPath = { name: string; path: string; isOriginal: boolean }

/** Originals with their thumbnails. */
async function coverPaths(tx: Transaction, folders: CoverFolders): Promise<CoverPath[]> {
  const rows = await tx<{ hash: string; extension: string }[]>`
    select distinct encode(hash, 'hex') as hash, original as extension from cover order by 1`
  const below = (folder: string, path: string) => relative(folder, path).replaceAll('\\', '/')
  return rows.flatMap(({ hash, extension }) => {
    const original = originalPath(folders, hash, extension)
    const thumbnails = (['jpeg', 'webp'] as const).map(format =>
      thumbnailPath(folders.thumbnails, hash, format),
    )
    return [
      { name: coversFolder + below(folders.originals, original), path: original, isOriginal: true },
      ...thumbnails.map(path => ({
        name: thumbnailsFolder + below(folders.thumbnails, path),
        path,
        isOriginal: false,
      })),
    ]
  })
}

/** A cover that is deleted meanwhile loses its files: what is missing is counted. */
async function writeCovers(paths: CoverPath[], { archive, signal }: Target) {
  const covers = { files: 0, bytes: 0, missing: 0 }
  for (const { name, path, isOriginal } of paths) {
    signal?.throwIfAborted()
    const bytes = await archive.addFile(name, path)
    if (bytes !== null) {
      covers.files += 1
      covers.bytes += bytes
    } else if (isOriginal) covers.missing += 1
  }
  return covers
}

async function assertFolder(file: string) {
  const stats = await stat(dirname(file)).catch(() => null)
  if (stats?.isDirectory() !== true) throw new Invalid('The folder of the backup does not exist')
}

async function assertSpace(file: string, tables: Table[]) {
  const { bavail, bsize } = await statfs(dirname(file))
  const free = bavail * bsize
  const needed = tables.reduce((sum, { bytes }) => sum + bytes, 0) * compressedShare
  if (free >= needed) return
  const mb = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`
  throw new Unavailable(
    `The folder of the backup has ${mb(free)} of free space; it may need ${mb(needed)}`,
  )
}
