// How a library's files become series. A strategy is a value; the list below names them all.
import type { TObject } from 'typebox'
import { Invalid } from '../errors.ts'
import { type Config, readConfig } from './config.ts'
import { type BookPath, type Facts, type Placement, readPath } from './placement.ts'
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

/** `check` says what the schema cannot: throws Invalid. */
type SeriesStrategy = {
  schema: TObject
  check?: (config: Config) => void
  place: (book: BookPath, config: Config, facts: Facts) => Placement
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
 * The configuration to store: defaults filled in, keys in camelCase. Throws Invalid for an unknown
 * strategy, a wrong or unknown key, or a pattern that is none.
 */
export function validateStrategy(strategy: string, config: unknown): Config {
  const { schema, check } = strategyNamed(strategy)
  const full = readConfig(schema, config)
  check?.(full)
  return full
}

/**
 * Places the book at `path` (library-relative, `/` separators, decoded). `config` is one that
 * validateStrategy answered. Throws Invalid only for an unknown strategy.
 */
export function placeBook(
  strategy: string,
  config: Config | null,
  path: string,
  facts: Facts = {},
): Placement {
  return strategyNamed(strategy).place(readPath(path), config ?? {}, facts)
}

function strategyNamed(name: string): SeriesStrategy {
  const known = name === 'default' ? 'series_volume' : name
  if (Object.hasOwn(strategies, known)) return strategies[known as SeriesStrategyName]
  throw new Invalid(
    `There is no series strategy ${name}; there are: ${seriesStrategies.join(', ')}`,
  )
}
