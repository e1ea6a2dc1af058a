// Navigation entries of series and libraries.
import type { Viewer } from '../../../accounts/viewer.ts'
import type { LibraryName } from '../../../catalog/library/library.ts'
import { authorsOfSeries } from '../../../catalog/series/series-authors.ts'
import { type Series, seriesByIds } from '../../../catalog/series/series-record.ts'
import type { Author } from '../../../media/metadata/values.ts'
import type { Sql } from '../../../store/postgres/db.ts'
import type { FeedRef, NavigationEntry } from '../feed.ts'
import { seriesDescription } from './description.ts'

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
