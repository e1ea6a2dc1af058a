// What series and libraries are called where they are led to.
import type { LibraryName } from '../../catalog/library/library-shelf.ts'
import type { Series } from '../../catalog/series-record.ts'
import type { Entry, Ref } from '../feed.ts'

export function seriesEntry({ id, title, bookCount, updatedAt }: Series): Entry {
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

export function libraryRef({ id, name }: LibraryName): Ref {
  return { path: `/libraries/${id}`, title: name, kind: 'navigation' }
}
