// Settings of the reader: defaults by the format and the metadata of a book, and what was chosen for its series.
import type { Schemas } from '../api/client.ts'
import { readStorage, writeStorage } from '../api/storage.ts'
import { type Fit, isStrip, type PageInfo } from './page-layout.ts'

export const modes = ['auto', 'single', 'double', 'strip'] as const
export const fits = ['screen', 'width', 'height', 'original'] as const satisfies Fit[]
export const backgrounds = ['theme', 'black', 'grey', 'white'] as const

export type ReaderSettings = {
  /** `auto`: double pages in landscape. */
  mode: (typeof modes)[number]
  fit: Fit
  direction: 'ltr' | 'rtl'
  background: (typeof backgrounds)[number]
  /** In double pages, the first page stands alone. */
  isCoverAlone: boolean
  /** Between the pages of a strip. */
  hasGaps: boolean
}
type Stored = Partial<ReaderSettings>

const maxSeries = 400
const seriesKey = 'stackroom.reader.series'
const defaultsKey = 'stackroom.reader.defaults'

/** Formats with the same defaults. */
const kindOf = ({ fileFormat }: Schemas['Book']) => (fileFormat === 'pdf' ? 'pdf' : 'comic')

/** Settings by series, the latest last; an array, since names of members that are numbers have no order. */
const readSeries = () => read<[string, Stored][]>(seriesKey, [])
const readDefaults = () => read<Record<string, Stored>>(defaultsKey, {})

function read<T>(key: string, fallback: T): T {
  try {
    return JSON.parse(readStorage(key) ?? 'null') ?? fallback
  } catch {
    return fallback
  }
}

function write(key: string, value: unknown) {
  writeStorage(key, JSON.stringify(value))
}

export function settingsFor(book: Schemas['Book'], pages: readonly PageInfo[]): ReaderSettings {
  const isPdf = kindOf(book) === 'pdf'
  const isVertical = book.readingDirection === 'webtoon' || book.readingDirection === 'ttb'
  const defaults: ReaderSettings = {
    mode: isPdf ? 'strip' : 'auto',
    fit: 'screen',
    direction: book.readingDirection === 'rtl' ? 'rtl' : 'ltr',
    background: 'theme',
    isCoverAlone: true,
    hasGaps: isPdf,
    ...readDefaults()[kindOf(book)],
    // A webtoon is a strip also when another mode was chosen for other comics.
    ...((isVertical || (!isPdf && isStrip(pages))) && { mode: 'strip', hasGaps: false }),
  }
  const ofSeries = readSeries().find(([id]) => id === book.seriesId)?.[1]
  return { ...defaults, ...ofSeries }
}

/** Stores a choice for the series of the book. */
export function storeForSeries({ seriesId }: Schemas['Book'], changes: Stored) {
  const all = readSeries()
  const known = all.find(([id]) => id === seriesId)?.[1]
  const others = all.filter(([id]) => id !== seriesId).slice(1 - maxSeries)
  write(seriesKey, [...others, [seriesId, { ...known, ...changes }]])
}

/** Stores settings as defaults of all series of the format. The direction is that of each book. */
export function storeAsDefault(book: Schemas['Book'], settings: ReaderSettings) {
  const { direction: _, ...common } = settings
  write(defaultsKey, { ...readDefaults(), [kindOf(book)]: common })
}
