// Reader settings: defaults by format and metadata of a book, and choices per series.
import type { Schemas } from '../api/client.ts'
import { account } from '../api/session.ts'
import { readStoredJson, writeStorage } from '../api/storage.ts'
import { isStrip, type PageInfo } from './page-layout.ts'

const choices = {
  /** `auto`: double pages in landscape. */
  mode: ['auto', 'single', 'double', 'strip'],
  fit: ['screen', 'width', 'height', 'original'],
  direction: ['ltr', 'rtl'],
  background: ['theme', 'black', 'gray', 'white'],
  colors: ['normal', 'gray', 'inverted'],
} as const
export type ReaderChoice = keyof typeof choices

export type ReaderSettings = { [N in ReaderChoice]: (typeof choices)[N][number] } & {
  /** In double pages, the first page stands alone. */
  isCoverAlone: boolean
  /** Splits wide pages in single-page mode. */
  isSplit: boolean
  /** In percent. */
  brightness: number
  /** Gaps between the pages of a strip. */
  hasGaps: boolean
}

/** Values of the settings with a few values. */
export const readerChoices: { readonly [N in ReaderChoice]: readonly ReaderSettings[N][] } = choices

type Stored = Partial<ReaderSettings>

export const brightnesses = { min: 40, max: 140, step: 10 }

const maxSeries = 400
const shiftedKey = 'stackroom.reader.shifted'
const seriesKey = 'stackroom.reader.series'
const defaultsKey = 'stackroom.reader.defaults'

/** Formats with the same defaults. */
const kindOf = ({ fileFormat }: Schemas['Book']) => (fileFormat === 'pdf' ? 'pdf' : 'comic')

/** Settings by series, most recent last. */
const readSeries = () => read<[string, Stored][]>(seriesKey, [])
const readDefaults = () => read<Record<string, Stored>>(defaultsKey, {})

/** Keys are per account and device, because a phone and a desktop need different settings. */
const ofAccount = (key: string) => `${key}:${account.value?.id ?? ''}`

const read = <T>(key: string, fallback: T): T => readStoredJson<T>(ofAccount(key)) ?? fallback

function write(key: string, value: unknown) {
  writeStorage(ofAccount(key), JSON.stringify(value))
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
    isSplit: false,
    colors: 'normal',
    brightness: 100,
    hasGaps: isPdf,
    ...readDefaults()[kindOf(book)],
    // A webtoon is a strip even if another mode was chosen for other comics.
    ...((isVertical || (!isPdf && isStrip(pages))) && { mode: 'strip', hasGaps: false }),
  }
  const ofSeries = readSeries().find(([id]) => id === book.seriesId)?.[1]
  return { ...defaults, ...ofSeries }
}

/** Stores a choice for the series of the book. */
export function storeForSeries({ seriesId }: Schemas['Book'], changes: Stored) {
  const known = readSeries().find(([id]) => id === seriesId)?.[1]
  storeLatest(seriesKey, seriesId, { ...known, ...changes })
}

/** Pages of a book after which pairs were shifted. */
export const shiftedPages = (bookId: string): readonly number[] =>
  read<[string, number[]][]>(shiftedKey, []).find(([id]) => id === bookId)?.[1] ?? []

export const storeShiftedPages = (bookId: string, pages: readonly number[]) =>
  storeLatest(shiftedKey, bookId, pages)

/** Stored as an array, because numeric object keys are not ordered by insertion. */
function storeLatest(key: string, id: string, value: unknown) {
  const others = read<[string, unknown][]>(key, []).filter(([other]) => other !== id)
  write(key, [...others.slice(1 - maxSeries), [id, value]])
}

/** Stores settings as defaults for all series of the format, except the direction, which each book has. */
export function storeAsDefault(book: Schemas['Book'], settings: ReaderSettings) {
  const { direction: _, ...common } = settings
  write(defaultsKey, { ...readDefaults(), [kindOf(book)]: common })
}
