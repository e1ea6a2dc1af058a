// `stackroom backup` and `stackroom restore`.
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import type { Manifest } from '../lib/backup/manifest.ts'
import { readPassphrase } from '../lib/backup/passphrase.ts'
import { restoreBackup } from '../lib/backup/restore.ts'
import { verifyBackup } from '../lib/backup/verify.ts'
import { writeBackup } from '../lib/backup/write.ts'
import { Invalid } from '../lib/base/errors.ts'
import { openSecrets } from '../lib/store/secret/secrets.ts'
import { rebuildQueue } from '../pipeline/doctor/rebuild.ts'
import { type CommonFlags, commonOptions, withContext } from './context.ts'

type Flags = CommonFlags & { passphraseFile?: string; json?: boolean }
type BackupFlags = Flags & { fast?: boolean }
type RestoreFlags = Flags & { replace?: boolean; check?: boolean }

const passphraseOption = [
  '--passphrase-file <file>',
  'file with the passphrase in its first line',
] as const

export function backupCommand(): Command {
  return commonOptions(new Command('backup'))
    .description('write a backup of the database and the uploaded covers, also while servers run')
    .argument('<file>', 'file to write; must not exist')
    .option('--fast', 'without pauses that keep a running server responsive')
    .option(...passphraseOption)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nThe key of the secrets (credentials of sources) is only included with a passphrase.\nThe file contains e-mail addresses and the hashes of passwords: keep it private.\nExit codes: 0 success, 2 cannot run; then the file does not exist.',
    )
    .action(backup)
}

export function restoreCommand(): Command {
  return commonOptions(new Command('restore'))
    .description('restore a backup into an empty database, or a new data directory')
    .argument('<file>', 'backup')
    .option('--replace', 'delete what the database contains')
    .option('--check', 'only check that the file is whole, and print what it contains')
    .option(...passphraseOption)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nStop `serve` and `worker` first. Until the end nothing is changed, so it can be interrupted.\nExit codes: 0 success, 2 cannot run; then nothing has changed.',
    )
    .action(restore)
}

/** Interrupted work cleans up; the process waits some seconds for that, but not for a disk that hangs. */
const onceEnded = () => {}

async function backup(
  file: string,
  { passphraseFile, fast = false, json = false, ...flags }: BackupFlags,
) {
  const passphrase = readPassphrase(passphraseFile)
  const started = performance.now()
  await withContext(
    flags,
    { quiet: true, migrates: false, dataDirectory: 'unused', endsItself: true },
    async ({ sql, config, shutdown }) => {
      const { data_dir: dataDir } = config
      const secrets = openSecrets(config)
      const { signal } = shutdown
      const keys = { secrets, passphrase }
      const writing = writeBackup({ sql, file, dataDir, isGentle: !fast, signal, ...keys })
      const manifest = await shutdown.unlessRequested(writing, onceEnded)
      print(await summaryOf(manifest, { file, started }), json)
      if (!json) for (const line of leftOut(manifest, secrets.file)) process.stdout.write(line)
    },
  )
}

async function restore(file: string, options: RestoreFlags) {
  const { passphraseFile, replace = false, check = false, json = false, ...flags } = options
  const started = performance.now()
  // Before anything is started or created.
  const manifest = await verifyBackup(file)
  if (check) return print(await summaryOf(manifest, { file, started }), json)
  const passphrase = readPassphrase(passphraseFile)
  if (passphrase !== undefined && !manifest.hasKeys)
    throw new Invalid(`${file} does not contain the key of the secrets`)
  await withContext(flags, { quiet: true, endsItself: true }, async context => {
    const { sql, config, log, shutdown } = context
    const secrets = openSecrets(config)
    const { data_dir: dataDir } = config
    const { signal } = shutdown
    const restoring = restoreBackup({ sql, file, replace, secrets, passphrase, dataDir, signal })
    await shutdown.unlessRequested(restoring, onceEnded)
    await rebuildQueue(sql, error => log.error({ err: error }, 'job queue error'), {
      thumbnails: join(dataDir, 'thumbnails'),
    })
    print(await summaryOf(manifest, { file, started }), json)
    if (!json && manifest.sourcesWithSecrets.length > 0 && passphrase === undefined)
      process.stdout.write(
        `Credentials of these sources need the key file of the old server as ${secrets.file}, or have to be entered again: ${manifest.sourcesWithSecrets.join(', ')}\n`,
      )
    if (!json)
      process.stdout.write('All sessions have ended. `stackroom serve` starts the server.\n')
  })
}

type Summary = Awaited<ReturnType<typeof summaryOf>>

async function summaryOf(
  { tables, covers, createdAt, version }: Manifest,
  { file, started }: { file: string; started: number },
) {
  const rowsOf = (name: string) => tables.find(table => table.name === name)?.rows ?? 0
  return {
    file: resolve(file),
    bytes: (await stat(file)).size,
    seconds: Math.round((performance.now() - started) / 100) / 10,
    ...{ createdAt, version },
    books: rowsOf('book'),
    accounts: rowsOf('account'),
    libraries: rowsOf('library'),
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    covers: covers.files,
    missingCovers: covers.missing,
  }
}

function print(summary: Summary, json: boolean) {
  if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
  else
    process.stdout.write(
      `${summary.file}: ${summary.books} books, ${summary.libraries} libraries, ${summary.accounts} accounts, ` +
        `${summary.covers} files of covers; ${(summary.bytes / 1024 ** 2).toFixed(1)} MiB, ` +
        `written by version ${summary.version} at ${summary.createdAt}, checked (${summary.seconds} s)\n`,
    )
}

function leftOut({ hasKeys, sourcesWithSecrets }: Manifest, keyFile: string): string[] {
  if (hasKeys || sourcesWithSecrets.length === 0) return []
  return [
    `Not included: the key (${keyFile}) for the credentials of ${sourcesWithSecrets.join(', ')}; give a passphrase, or keep a copy of it\n`,
  ]
}
