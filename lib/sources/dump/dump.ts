// Dump source: metadata from a local file with a JSON document per line, found through an index on disk.
import { Invalid } from '../../base/errors.ts'
import type { Call, FetchedSeries, SeriesHit } from '../contract.ts'
import { SourceFailure } from '../failure.ts'
import { compileHit, compileSeries } from '../mapping/series.ts'
import type { SourceRow, SourceType } from '../source-type.ts'
import { DumpConfig, type Dumps, dumpFile } from './dumps.ts'
import type { DumpResult, DumpTask } from './index-thread.ts'

export const dump: SourceType<DumpConfig> = {
  Config: DumpConfig,
  check({ config }, { dumps }) {
    dumpFile(config, dumps.access)
    compileHit(config.search, 'config.search')
    compileSeries(config.series, 'x', 'config.series')
  },
  releaseSources: () => [],
  open(row, { dumps }) {
    const run = (operation: DumpTask['operation'], call: Call) =>
      runTask(row, dumps, operation, call)
    return {
      async describe(call) {
        const count = (await run(null, call)) as number
        return {
          ...{ name: row.name.slice(0, 100), displayName: row.displayName, version: '1' },
          homepage: null,
          capabilities: count > 0 ? ['metadata'] : [],
          releaseSources: [],
        }
      },
      searchSeries: async (query, call) => (await run(query, call)) as SeriesHit[],
      fetchSeries: async (externalId, call) =>
        (await run({ externalId }, call)) as FetchedSeries | null,
    }
  },
}

async function runTask(
  { id, name, config }: SourceRow<DumpConfig>,
  dumps: Dumps,
  operation: DumpTask['operation'],
  { signal }: Call,
): Promise<DumpResult> {
  const task = {
    ...{ source: name, search: config.search, series: config.series, operation },
    file: fileOf(config, dumps),
    index: dumps.indexOf(id),
  }
  // An index that is being built is completed for the next call.
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  signal.throwIfAborted()
  try {
    return await Promise.race([dumps.run(task), aborted])
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new SourceFailure('The dump cannot be read', 'invalid', { cause })
  }
}

function fileOf(config: DumpConfig, { access }: Dumps): string {
  try {
    return dumpFile(config, access)
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    throw new SourceFailure('The dump does not exist', 'unreachable', { cause: error })
  }
}
