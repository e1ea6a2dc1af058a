// `stackroom doctor`: checks the consistency of the catalog and repairs it.
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { NotResponding } from '../lib/base/errors.ts'
import { pathText } from '../lib/base/path.ts'
import type { Config } from '../lib/store/config/config.ts'
import { mountHealth, mountKey } from '../lib/store/mount/mount-health.ts'
import type { Sql } from '../lib/store/postgres/db.ts'
import { openQueue } from '../lib/store/queue/queue.ts'
import { openSecrets } from '../lib/store/secret/secrets.ts'
import { unreadableSecrets } from '../lib/store/secret/stored.ts'
import { checkCatalog, type DoctorReport, type Finding } from '../pipeline/doctor/doctor.ts'
import { type CommonFlags, type Context, commonOptions, withContext } from './context.ts'
import { failureMessage, Terminated } from './exit.ts'

type Flags = CommonFlags & { repair?: boolean; json?: boolean; adopt?: boolean; newId?: boolean }
type EnvironmentCheck = { name: string; value: string; isGood: boolean }

export function doctorCommand(): Command {
  return commonOptions(new Command('doctor'))
    .description('check the catalog and repair inconsistencies')
    .option('--repair', 'repair what can be repaired')
    .option('--json', 'print the report as one JSON object, with `error` if it cannot run')
    .option(
      '--adopt',
      'assign the data directory to this database: a new directory, or the one of a restored database',
    )
    .option(
      '--new-id',
      'give this database and data directory a new id, for a copy of an installation',
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 no problems or all repaired, 1 problems found, 2 cannot run.\nJobs queued by --repair are run by `serve`, `worker` or the next `scan`.',
    )
    .action(async (flags: Flags) => {
      const dataDirectory = flags.newId ? 'renewed' : flags.adopt ? 'adopted' : 'belonging'
      const running = withContext(flags, { quiet: true, dataDirectory }, context =>
        run(context, flags),
      )
      const report = await (flags.json ? running.catch(printFailure) : running)
      process.stdout.write(
        flags.json ? `${JSON.stringify({ ...report, error: null })}\n` : table(report),
      )
      process.exitCode = report.isHealthy ? 0 : 1
    })
}

type Report = DoctorReport & { environment: EnvironmentCheck[] }

async function run({ config, sql, log }: Context, { repair = false }: Flags): Promise<Report> {
  const environment = await checkEnvironment({ config, sql })
  const queue = repair
    ? await openQueue(sql, error => log.error({ err: error }, 'job queue error'))
    : null
  try {
    const thumbnails = join(config.data_dir, 'thumbnails')
    const diagnosis = await checkCatalog({ sql, queue, thumbnails, repair })
    const isHealthy = diagnosis.isHealthy && environment.every(({ isGood }) => isGood)
    return { environment, ...diagnosis, isHealthy }
  } finally {
    await queue?.close()
  }
}

/** A program that reads the report gets one, even if nothing could be checked. */
function printFailure(error: unknown): never {
  if (!(error instanceof Terminated)) {
    const nothing: Report = { environment: [], findings: [], busy: [], isHealthy: false }
    process.stdout.write(`${JSON.stringify({ ...nothing, error: failureMessage(error) })}\n`)
  }
  throw error
}

/** Checks outside the catalog that often explain a problem: versions, data directory, library folders. */
async function checkEnvironment({
  config,
  sql,
}: Pick<Context, 'config' | 'sql'>): Promise<EnvironmentCheck[]> {
  const [server] = await sql`select current_setting('server_version') as version`
  const [schema] = await sql`select number, name from schema_migration order by number desc limit 1`
  const libraries = await sql<{ name: string; root: Buffer }[]>`
    select name, root from library order by name, id`
  return [
    { name: 'PostgreSQL', value: server!.version, isGood: true },
    { name: 'schema', value: `${schema!.number} ${schema!.name}`, isGood: true },
    await checkAccess('data directory', config.data_dir, async () => {
      const probe = join(config.data_dir, `.doctor-${randomBytes(6).toString('hex')}`)
      writeFileSync(probe, '')
      rmSync(probe)
    }),
    await checkKeyFile(sql, config),
    ...(await Promise.all(
      libraries.map(({ name, root }) =>
        checkAccess(`library ${name}`, pathText(root), () => checkFolder(root)),
      ),
    )),
  ]
}

/** The names of sources with unreadable credentials. */
async function checkKeyFile(sql: Sql, config: Config): Promise<EnvironmentCheck> {
  const secrets = openSecrets(config)
  const unreadable = await unreadableSecrets(sql, secrets)
  const what = unreadable && [
    ...unreadable.sources,
    ...(unreadable.signingKeys ? ['access tokens'] : []),
  ]
  const problem = what && ` cannot decrypt: ${what.join(', ')}`
  return { name: 'secrets', value: `${secrets.file}${problem ?? ''}`, isGood: what === null }
}

async function checkFolder(root: Buffer) {
  const stats = await mountHealth.run(mountKey(root), () => stat(root))
  if (!stats.isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' })
}

async function checkAccess(name: string, value: string, attempt: () => Promise<void>) {
  try {
    await attempt()
    return { name, value, isGood: true }
  } catch (error) {
    const isHung = error instanceof NotResponding
    const { code = 'error' } = error as NodeJS.ErrnoException
    const problem = isHung ? 'does not respond' : `is not accessible (${code})`
    return { name, value: `${value} ${problem}`, isGood: false }
  }
}

function table(report: Report): string {
  const lines = [
    ...report.environment.map(
      check => `${check.isGood ? ' ' : '!'} ${check.name.padEnd(20)} ${check.value}`,
    ),
    ...report.busy.map(name => `! skipped, scan in progress: ${name}`),
    '',
    ...report.findings.flatMap(findingLines),
    '',
    report.isHealthy ? 'No problems found.' : 'Problems found.',
  ]
  return `${lines.join('\n')}\n`
}

function findingLines({ name, description, count, samples, isRepaired }: Finding): string[] {
  if (count === 0) return [`  ${name.padEnd(20)} ok`]
  const outcome = isRepaired === null ? '' : isRepaired ? ', repaired' : ', not fully repaired'
  return [
    `${isRepaired ? ' ' : '!'} ${name.padEnd(20)} ${count}${outcome}: ${description}`,
    ...samples.map(sample => `    ${sample}`),
  ]
}
