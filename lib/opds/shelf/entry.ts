// What series and libraries are called where they are led to.
import type { LibraryName } from '../../catalog/library/library-browse.ts'
import type { Series } from '../../catalog/series/series-record.ts'
import type { Entry, Ref } from '../feed.ts'

/** Of one page: those that share a title are told apart by their library or their folder. */
export function seriesEntries(page: readonly Series[]): Entry[] {
  const named = Map.groupBy(page, ({ title }) => title.trim().toLowerCase())
  return page.map(series => {
    const namesakes = named.get(series.title.trim().toLowerCase())!
    return { ...entryOf(series), title: titleAmong(series, namesakes) }
  })
}

function entryOf({ id, title, bookCount, updatedAt }: Series): Entry {
  const path = `/series/${id}`
  return {
    id,
    path,
    title,
    kind: 'acquisition',
    updated: new Date(updatedAt),
    count: bookCount,
    cover: path,
  }
}

const folderOf = ({ path }: Series) => path ?? ''
// The shortest that is enough comes first.
const marks: ((series: Series) => string)[] = [
  series => series.libraryName,
  series => folderOf(series).split('/').at(-1)!,
  folderOf,
  series => `${series.libraryName}: ${folderOf(series)}`,
]

function titleAmong(series: Series, namesakes: readonly Series[]): string {
  if (namesakes.length === 1) return series.title
  const differs = (mark: (series: Series) => string) =>
    new Set(namesakes.map(mark)).size === namesakes.length
  const mark = marks.find(differs)?.(series)
  return mark ? `${series.title} (${mark})` : series.title
}

export const libraries: Ref = { path: '/libraries', title: 'Libraries', kind: 'navigation' }

export function libraryRef({ id, name }: LibraryName): Ref {
  return { path: `/libraries/${id}`, title: name, kind: 'navigation' }
}
