// stackroom doctor: checks what must always hold in the catalogue, and mends it with --repair.
import { randomBytes } from 'node:crypto'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { pathText } from '../lib/path.ts'
import { openQueue } from '../lib/queue/queue.ts'
import { type Diagnosis, examine, type Finding } from '../pipeline/doctor/doctor.ts'
import { type CommonFlags, commonOptions, type Stackroom, withStackroom } from './context.ts'

type Flags = CommonFlags & { repair?: boolean; json?: boolean }
type Fact = { name: string; value: string; isGood: boolean }

export function doctorCommand(): Command {
  return commonOptions(new Command('doctor'))
    .description('check the catalogue')
    .option('--repair', 'mend what can be mended')
    .option('--json', 'print the findings as one JSON object')
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing is wrong or all was mended, 1 something is wrong, 2 cannot run.\nWork that --repair enqueues is done by `serve`, `worker` or the next `scan`.',
    )
    .action((flags: Flags) => withStackroom(flags, { quiet: true }, s => run(s, flags)))
}

async function run({ config, sql, log }: Stackroom, { repair = false, json = false }: Flags) {
  const facts = await factsOf({ config, sql, log })
  const queue = repair ? await openQueue(sql, error => log.error({ err: error }, 'queue')) : null
  try {
    const thumbnails = join(config.data_dir, 'thumbnails')
    const diagnosis = await examine({ sql, queue, thumbnails, repair })
    if (json) process.stdout.write(`${JSON.stringify({ facts, ...diagnosis })}\n`)
    else process.stdout.write(table(facts, diagnosis))
    process.exitCode = diagnosis.isWell ? 0 : 1
  } finally {
    await queue?.close()
  }
}

/** What a person looks at first; none of it is a fault of the catalogue. */
async function factsOf({ config, sql }: Stackroom): Promise<Fact[]> {
  const [server] = await sql`select current_setting('server_version') as version`
  const [schema] = await sql`select number, name from schema_migration order by number desc limit 1`
  const libraries = await sql<{ name: string; root: Buffer }[]>`
    select name, root from library order by name, id`
  return [
    { name: 'PostgreSQL', value: server!.version, isGood: true },
    { name: 'schema', value: `${schema!.number} ${schema!.name}`, isGood: true },
    tryOut('data directory', config.data_dir, () => {
      const probe = join(config.data_dir, `.doctor-${randomBytes(6).toString('hex')}`)
      writeFileSync(probe, '')
      rmSync(probe)
    }),
    ...libraries.map(({ name, root }) =>
      tryOut(`library ${name}`, pathText(root), () => {
        if (!statSync(root).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' })
      }),
    ),
  ]
}

function tryOut(name: string, value: string, attempt: () => void): Fact {
  try {
    attempt()
    return { name, value, isGood: true }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error'
    return { name, value: `${value} cannot be used (${code})`, isGood: false }
  }
}

function table(facts: Fact[], { findings, busy, isWell }: Diagnosis): string {
  const told = [
    ...facts.map(fact => `${fact.isGood ? ' ' : '!'} ${fact.name.padEnd(20)} ${fact.value}`),
    ...busy.map(name => `! left out, because it is being scanned: ${name}`),
    '',
    ...findings.flatMap(linesOf),
    '',
    isWell ? 'Nothing is wrong.' : 'Something is wrong.',
  ]
  return `${told.join('\n')}\n`
}

function linesOf({ name, sentence, count, samples, mended }: Finding): string[] {
  if (count === 0) return [`  ${name.padEnd(20)} ok`]
  const end = mended === null ? '' : mended ? ', mended' : ', not all mended'
  return [
    `${mended ? ' ' : '!'} ${name.padEnd(20)} ${count}${end}: ${sentence}`,
    ...samples.map(sample => `    ${sample}`),
  ]
}
