// Series strategies: how the files of a library are grouped into series. Each is a configuration and a function from the path
// of a book to its place; `strategies` has all of them.
import type { Static, TObject } from 'typebox'
import { Invalid } from '../../base/errors.ts'
import { Type } from '../../base/schema-type.ts'
import { parseFilename } from '../name/filename.ts'
import { type Config, validateConfig } from './config.ts'
import { checkPatterns, compilePattern, fillTemplate, matchPattern, tryPattern } from './pattern.ts'
import {
  type BookPath,
  folderPlacement,
  namedPlacement,
  oneShotPlacement,
  type Placement,
  readPath,
  type SeriesFacts,
  volumeOfFolder,
} from './placement.ts'

/** `Batman/Year One/issue1.cbz`: the nearest folder is the series, at any depth. */
const bySeriesVolume = (book: BookPath): Placement =>
  book.folders.length === 0 ? oneShotPlacement(book) : folderPlacement(book.folders)

/** `One Piece/Volume 01/Chapter 001.cbz`: the first folder is the series, the second the volume. */
function bySeriesVolumeChapter(book: BookPath): Placement {
  const [, second] = book.folders
  if (book.folders.length === 0) return oneShotPlacement(book)
  const volume = second === undefined ? null : (parseFilename(second).volume ?? second)
  return folderPlacement(book.folders.slice(0, 1), { volume })
}

const publisherConfig = Type.Object({
  /** Number of folders above the series. */
  skipDepth: Type.Integer({ minimum: 0, maximum: 10, default: 1 }),
  storeSkippedAs: Type.Unsafe<'publisher' | 'imprint' | 'none'>({
    type: 'string',
    enum: ['publisher', 'imprint', 'none'],
    default: 'publisher',
  }),
})

/** `DC/Batman/issue1.cbz`: folders above the series are the publisher. */
function byPublisher(
  book: BookPath,
  { skipDepth = 1, storeSkippedAs = 'publisher' }: Partial<Static<typeof publisherConfig>>,
): Placement {
  if (book.folders.length === 0) return oneShotPlacement(book)
  const skipped = book.folders.slice(0, skipDepth).join('/') || null
  const more = storeSkippedAs === 'none' ? {} : { [storeSkippedAs]: skipped }
  if (book.folders.length <= skipDepth)
    return folderPlacement(book.folders, { name: 'Unsorted', ...more })
  return folderPlacement(book.folders, more)
}

const calibreConfig = Type.Object({
  /** Removes the ` (45)` that Calibre appends to the title. */
  stripIdSuffix: Type.Boolean({ default: true }),
  seriesMode: Type.Unsafe<'standalone' | 'by_author' | 'from_metadata'>({
    type: 'string',
    enum: ['standalone', 'by_author', 'from_metadata'],
    default: 'from_metadata',
  }),
  /** Whether the series may come from the sidecar. */
  readOpfMetadata: Type.Boolean({ default: true }),
  authorFromFolder: Type.Boolean({ default: true }),
})

/** `Author/Title (id)/Title - Author.epub`. */
function byCalibre(
  book: BookPath,
  config: Partial<Static<typeof calibreConfig>>,
  facts: SeriesFacts,
): Placement {
  const { stripIdSuffix = true, seriesMode = 'from_metadata' } = config
  const { readOpfMetadata = true, authorFromFolder = true } = config
  if (book.folders.length === 0) return oneShotPlacement(book)
  const folder = book.folders.at(-1)!
  const title = stripIdSuffix ? folder.replace(/ \(\d{1,9}\)$/, '') : folder
  const author = (authorFromFolder && book.folders.at(-2)) || null
  const common = { author, title: title || null }
  if (seriesMode === 'from_metadata' && readOpfMetadata && facts.series)
    return namedPlacement(facts.series, common)
  if (seriesMode !== 'by_author')
    return folderPlacement(book.folders, { ...common, name: title || 'Unknown', isOneShot: true })
  if (author === null) return namedPlacement('Unknown Author', common)
  return folderPlacement(book.folders.slice(0, -1), { ...common, name: author, year: null })
}

const flatConfig = Type.Object({
  /** Matched in order against the stem of the file; group 1 is the series. */
  filenamePatterns: Type.Array(Type.String({ minLength: 1 }), { default: [], maxItems: 50 }),
  /** Without a match and an embedded series the book is placed in `Unknown`. */
  requireMetadata: Type.Boolean({ default: false }),
})
type FlatConfig = Partial<Static<typeof flatConfig>>

/** All files in one folder: by the configured patterns, else the embedded series, else the parsed file name. */
function byFlat(
  { stem }: BookPath,
  { filenamePatterns = [], requireMetadata = false }: FlatConfig,
  facts: SeriesFacts,
): Placement {
  const parsed = parseFilename(stem)
  for (const source of filenamePatterns) {
    const pattern = tryPattern(source)
    const name = pattern && matchPattern(pattern, stem)?.all[1]?.trim()
    if (name) return namedPlacement(name, { year: parsed.year })
  }
  if (facts.series) return namedPlacement(facts.series, { year: parsed.year })
  if (requireMetadata) return namedPlacement('Unknown')
  // `[One Piece] v01`: without other text the brackets contain the series, not a release group.
  const name = parsed.series ?? parsed.groups[0] ?? stem
  const dash = name.indexOf(' - ')
  return namedPlacement(dash > 0 ? name.slice(0, dash).trim() : name, { year: parsed.year })
}

const customConfig = Type.Object({
  /** Matched against the library-relative path; groups series, publisher, book, volume, year, imprint. */
  pattern: Type.String({ minLength: 1 }),
  seriesNameTemplate: Type.String({ minLength: 1, maxLength: 500, default: '{series}' }),
})
type CustomConfig = Partial<Static<typeof customConfig>>

function byCustom(
  book: BookPath,
  { pattern: source = '', seriesNameTemplate = '{series}' }: CustomConfig,
): Placement {
  const pattern = source === '' ? null : tryPattern(source)
  const groups = pattern && matchPattern(pattern, book.path)?.named
  if (!groups) return bySeriesVolume(book)
  const name = fillTemplate(seriesNameTemplate, groups).replace(/[{}]/g, '').trim()
  return namedPlacement(name || 'Unsorted', {
    publisher: groups.publisher || null,
    imprint: groups.imprint || null,
    year: /^\d{4}$/.test(groups.year ?? '') ? Number(groups.year) : null,
    volume: /^\d{1,9}$/.test(groups.volume ?? '') ? Number(groups.volume) : groups.volume || null,
    title: groups.book || null,
  })
}

/** `check` validates what the schema cannot express; throws Invalid. */
type SeriesStrategy = {
  schema: TObject
  check?: (config: Config) => void
  place: (book: BookPath, config: Config, facts: SeriesFacts) => Placement
}

const noConfig = Type.Object({})
const strategies = {
  series_volume: { schema: noConfig, place: bySeriesVolume },
  series_volume_chapter: { schema: noConfig, place: bySeriesVolumeChapter },
  flat: {
    schema: flatConfig,
    check: ({ filenamePatterns = [] }: FlatConfig) =>
      checkPatterns(filenamePatterns, i => `filenamePatterns[${i}]`),
    place: byFlat,
  },
  publisher_hierarchy: { schema: publisherConfig, place: byPublisher },
  calibre: { schema: calibreConfig, place: byCalibre },
  custom: {
    schema: customConfig,
    check: ({ pattern = '' }: CustomConfig) => void compilePattern(pattern, 'pattern'),
    place: byCustom,
  },
} satisfies Record<string, SeriesStrategy>

type SeriesStrategyName = keyof typeof strategies
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
