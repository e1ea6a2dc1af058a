// Navigation entries of series and libraries, with one-line descriptions: how many items, by whom, and the summary.
import type { Viewer } from '../../../accounts/viewer.ts'
import type { LibraryName } from '../../../catalog/library/library.ts'
import { authorsOfSeries } from '../../../catalog/series/series-authors.ts'
import { type Series, seriesByIds } from '../../../catalog/series/series-record.ts'
import { singleLine } from '../../../media/metadata/text.ts'
import type { Author } from '../../../media/metadata/values.ts'
import type { Sql } from '../../../store/postgres/db.ts'
import { namesOf } from '../../publication/publication.ts'
import type { FeedRef, NavigationEntry } from '../feed.ts'

type Request = { sql: Sql; viewer: Viewer }

/** Entries of the series with these ids. Series with equal titles get their library or folder as a suffix. */
export async function seriesEntries(
  { sql, viewer }: Request,
  ids: readonly string[],
): Promise<NavigationEntry[]> {
  const [page, authors] = await Promise.all([
    seriesByIds(sql, viewer, ids),
    authorsOfSeries(sql, viewer, ids),
  ])
  const titleKey = ({ title }: Series) => title.trim().toLowerCase()
  const byTitle = Map.groupBy(page, titleKey)
  return page.map(series => ({
    ...toEntry(series, authors.get(series.id) ?? []),
    title: distinctTitle(series, byTitle.get(titleKey(series))!),
  }))
}

function toEntry(series: Series, authors: readonly Author[]): NavigationEntry {
  const { id, title, bookCount, updatedAt } = series
  const path = `/series/${id}`
  return {
    id,
    path,
    title,
    kind: 'acquisition',
    updatedAt: new Date(updatedAt),
    count: bookCount,
    cover: path,
    description: seriesDescription({ ...series, authors }),
  }
}

const folderOf = ({ path }: Series) => path ?? ''
/** Suffixes from short to long; the first one that differs for all series with the same title is used. */
const suffixes: ((series: Series) => string)[] = [
  series => series.libraryName,
  series => folderOf(series).split('/').at(-1)!,
  folderOf,
  series => `${series.libraryName}: ${folderOf(series)}`,
]

function distinctTitle(series: Series, sameTitle: readonly Series[]): string {
  if (sameTitle.length === 1) return series.title
  const isDistinct = (suffix: (series: Series) => string) =>
    new Set(sameTitle.map(suffix)).size === sameTitle.length
  const suffix = suffixes.find(isDistinct)?.(series) || String(sameTitle.indexOf(series) + 1)
  return `${series.title} (${suffix})`
}

export const libraries: FeedRef = { path: '/libraries', title: 'Libraries', kind: 'navigation' }

export function libraryRef({ id, name }: LibraryName): FeedRef {
  return { path: `/libraries/${id}`, title: name, kind: 'navigation' }
}

const maxAuthors = 3
const maxSummaryLength = 300

/** `1 book`, `1,200 books`; `series` has no plural. */
export function countOf(count: number, noun: 'book' | 'series'): string {
  const isPlural = count !== 1 && noun === 'book'
  return `${count.toLocaleString('en')} ${noun}${isPlural ? 's' : ''}`
}

type Described = { bookCount: number; summary: string | null; authors: readonly Author[] }

/** `12 books by Ann Author and Ben Writer. The summary` */
export function seriesDescription({ bookCount, summary, authors }: Described): string {
  const names = namesOf(authors).authors.flatMap(name => singleLine(name) ?? [])
  const by = names.length > 0 ? ` by ${enumeration(names)}` : ''
  const text = singleLine(summary ?? '')
  return `${countOf(bookCount, 'book')}${by}.${text ? ` ${shortened(text)}` : ''}`
}

function enumeration(names: readonly string[]): string {
  const others = names.length - maxAuthors
  const shown = others > 0 ? [...names.slice(0, maxAuthors), `${others} others`] : names
  if (shown.length === 1) return shown[0]!
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** Cut between words, if there are any. */
function shortened(text: string): string {
  if (text.length <= maxSummaryLength) return text
  const cut = text.slice(0, maxSummaryLength + 1).replace(/\s+\S*$/, '')
  return `${cut.slice(0, maxSummaryLength).toWellFormed()}…`
}
