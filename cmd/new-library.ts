// Options of `serve` and `scan` for the libraries that they create.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { watchModes } from '../lib/catalog/library/library-settings.ts'
import type { LibraryDraft } from '../lib/catalog/library/library-write.ts'
import { cronError } from '../lib/cron.ts'
import { seriesStrategies } from '../lib/strategy/series.ts'

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
    .option('-n, --name <name>', 'name of a new library (default: that of its folder)')
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
      new Option('--schedule <cron>', 'when they scan a new library, or off')
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
