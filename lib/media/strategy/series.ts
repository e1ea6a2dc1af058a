// Series strategies: how the files of a library are grouped into series.
import type { TObject } from 'typebox'
import { Invalid } from '../../base/errors.ts'
import { type Config, validateConfig } from './config.ts'
import {
  type BookPath,
  type Placement,
  readPath,
  type SeriesFacts,
  volumeOfFolder,
} from './placement.ts'
import { byCalibre, calibreConfig } from './series-calibre.ts'
import {
  byCustom,
  byFlat,
  checkCustom,
  checkFlat,
  customConfig,
  flatConfig,
} from './series-flat.ts'
import {
  byPublisher,
  bySeriesVolume,
  bySeriesVolumeChapter,
  noConfig,
  publisherConfig,
} from './series-folder.ts'

/** `check` validates what the schema cannot express; throws Invalid. */
type SeriesStrategy = {
  schema: TObject
  check?: (config: Config) => void
  place: (book: BookPath, config: Config, facts: SeriesFacts) => Placement
}

const strategies = {
  series_volume: { schema: noConfig, place: bySeriesVolume },
  series_volume_chapter: { schema: noConfig, place: bySeriesVolumeChapter },
  flat: { schema: flatConfig, check: checkFlat, place: byFlat },
  publisher_hierarchy: { schema: publisherConfig, place: byPublisher },
  calibre: { schema: calibreConfig, place: byCalibre },
  custom: { schema: customConfig, check: checkCustom, place: byCustom },
} satisfies Record<string, SeriesStrategy>

export type SeriesStrategyName = keyof typeof strategies
export const seriesStrategies = Object.keys(strategies) as SeriesStrategyName[]

/**
 * Returns the configuration to store: with defaults, keys in camelCase. Throws Invalid for an unknown
 * strategy, an invalid or unknown key, or an invalid pattern.
 */
export function validateSeriesStrategy(strategy: string, config: unknown): Config {
  const { schema, check } = strategyNamed(strategy)
  const full = validateConfig(schema, config)
  check?.(full)
  return full
}

/**
 * Determines the series of the book at `path` (library-relative, `/` separators, decoded). `config` comes
 * from validateSeriesStrategy. Throws Invalid only for an unknown strategy.
 */
export function placeBook(
  strategy: string,
  config: Config | null,
  path: string,
  facts: SeriesFacts = {},
): Placement {
  const book = readPath(path)
  const placement = strategyNamed(strategy).place(book, config ?? {}, facts)
  const volume = placement.volume ?? volumeFolder(book, placement)
  return { ...placement, volume }
}

/** The volume or season denoted by the book's folder, if that is not the series folder: `Season 1`. */
function volumeFolder({ folders }: BookPath, { folder }: Placement): number | null {
  const name = folders.at(-1)
  return name === undefined || folder === folders.join('/') ? null : volumeOfFolder(name)
}

function strategyNamed(name: string): SeriesStrategy {
  const known = name === 'default' ? 'series_volume' : name
  if (Object.hasOwn(strategies, known)) return strategies[known as SeriesStrategyName]
  throw new Invalid(`Unknown series strategy ${name}; supported: ${seriesStrategies.join(', ')}`)
}
