// Shelves of libraries and, in OPDS 2.0, the home of each library.

import { uuid } from '../../../base/schema.ts'
import {
  browseLibraries,
  type LibraryEntry,
  libraryName,
} from '../../../catalog/library/library.ts'
import { type NavigationEntry, navigationFeed } from '../feed.ts'
import { countOf } from './description.ts'
import { libraries, libraryRef } from './entry.ts'
import { homeGroups } from './root.ts'
import { allSeries, newSeries } from './series-list.ts'
import { offsetOf, pagingOf, type Shelf } from './shelf.ts'

export const librariesShelf: Shelf = {
  path: '/libraries',
  summary: 'Libraries by name',
  async load(request) {
    const { sql, viewer, pageSize } = request
    const page = { offset: offsetOf(request), pageSize }
    const { data, total } = await browseLibraries(sql, viewer, page)
    const entries = data.map(toEntry)
    return navigationFeed({ ...libraries, entries, paging: pagingOf(request, total) })
  },
}

const toEntry = (library: LibraryEntry): NavigationEntry => ({
  ...libraryRef(library),
  id: library.id,
  updatedAt: library.updatedAt,
  count: library.seriesCount,
  description: countOf(library.seriesCount, 'series'),
})

export const libraryHome: Shelf = {
  path: '/libraries/{id}',
  summary: 'Home of a library: new books and series, books in progress, all series',
  onlyVersion: 2,
  params: { id: uuid({ description: 'Library id.' }) },
  async load(request) {
    const library = await libraryName(request.sql, request.viewer, request.params.id!)
    const groups = await homeGroups(request, library)
    const { path, title } = libraryRef(library)
    const browse: NavigationEntry = {
      ...{ path: `${path}/browse`, title: allSeries.title, kind: 'navigation' },
      updatedAt: library.updatedAt,
      // The new series are all series in a different order.
      count: groups.find(group => group.path === newSeries.path)?.total ?? 0,
    }
    return navigationFeed({
      ...{ path, title, id: library.id, updatedAt: library.updatedAt, up: libraries },
      ...{ entries: [browse], groups },
    })
  },
}
