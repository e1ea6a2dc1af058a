// New libraries for `serve` and `scan`: their options, and their creation together with a first scan.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { cronError } from '../lib/base/cron.ts'
import { watchModes } from '../lib/catalog/library/library-settings.ts'
import { findOrCreateLibrary, type LibraryDraft } from '../lib/catalog/library/library-write.ts'
import { enqueueScan, type ScanRequest } from '../lib/catalog/scan/scan-request.ts'
import { seriesStrategies } from '../lib/media/strategy/series.ts'
import type { Sql } from '../lib/store/postgres/db.ts'
import type { Queue } from '../lib/store/queue/queue.ts'

export type NewLibraryFlags = {
  name?: string
  strategy?: string
  strategyConfig?: Record<string, unknown>
  watch: (typeof watchModes)[number]
  /** Null for none. */
  schedule: string | null
}

export function newLibraryOptions(command: Command): Command {
  return command
    .option('-n, --name <name>', 'name of a new library (default: the name of the folder)')
    .addOption(
      new Option('-s, --strategy <strategy>', 'series strategy of a new library').choices([
        ...seriesStrategies,
      ]),
    )
    .option('--strategy-config <json>', 'strategy settings of a new library, as JSON', parseJson)
    .addOption(
      new Option('--watch <mode>', 'how servers and workers notice changes in a new library')
        .choices([...watchModes])
        .default('on'),
    )
    .addOption(
      new Option('--schedule <cron>', 'when servers and workers scan a new library, or off')
        .argParser(parseSchedule)
        .default('0 3 * * *'),
    )
}

export function libraryDraft(root: Buffer, flags: NewLibraryFlags): LibraryDraft {
  return {
    name: flags.name,
    root,
    seriesStrategy: flags.strategy,
    seriesConfig: flags.strategyConfig,
    scanningConfig: { watch: flags.watch, cronSchedule: flags.schedule },
  }
}

/**
 * Creates a library unless it exists, and enqueues its scan in the same transaction: a server that watches
 * the new library sees an active scan and does not start another.
 */
export async function createWithScan(
  { sql, queue }: { sql: Sql; queue: Queue },
  draft: LibraryDraft,
  request: Omit<ScanRequest, 'libraryId'>,
) {
  let scanId = ''
  const library = await findOrCreateLibrary(sql, draft, async (tx, libraryId) => {
    scanId = await enqueueScan(tx, queue, { ...request, libraryId })
  })
  return { library, scanId }
}

function parseSchedule(text: string): string | null {
  if (text === 'off') return null
  const error = cronError(text)
  if (error) throw new InvalidArgumentError(`${error}.`)
  return text
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('Not valid JSON.')
  }
}
