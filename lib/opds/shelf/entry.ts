// Navigation entries of series and libraries.
import type { LibraryName } from '../../catalog/library/library.ts'
import type { Series } from '../../catalog/series/series-record.ts'
import type { FeedRef, NavigationEntry } from '../feed.ts'

/** Entries of one page. Series with equal titles get their library or folder as a suffix. */
export function seriesEntries(page: readonly Series[]): NavigationEntry[] {
  const titleKey = ({ title }: Series) => title.trim().toLowerCase()
  const byTitle = Map.groupBy(page, titleKey)
  return page.map(series => ({
    ...toEntry(series),
    title: distinctTitle(series, byTitle.get(titleKey(series))!),
  }))
}

function toEntry({ id, title, bookCount, updatedAt }: Series): NavigationEntry {
  const path = `/series/${id}`
  return {
    id,
    path,
    title,
    kind: 'acquisition',
    updatedAt: new Date(updatedAt),
    count: bookCount,
    cover: path,
  }
}

const folderOf = ({ path }: Series) => path ?? ''
/** Suffixes from short to long; the first one that differs for all series of the same title is used. */
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
  const suffix = suffixes.find(isDistinct)?.(series)
  return suffix ? `${series.title} (${suffix})` : series.title
}

export const libraries: FeedRef = { path: '/libraries', title: 'Libraries', kind: 'navigation' }

export function libraryRef({ id, name }: LibraryName): FeedRef {
  return { path: `/libraries/${id}`, title: name, kind: 'navigation' }
}
