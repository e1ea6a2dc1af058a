// Libraries and, in OPDS 2.0, the home of each.
import {
  type LibraryShelf,
  libraryName,
  libraryShelves as pageOfLibraries,
} from '../../catalog/library/library-browse.ts'
import { Id } from '../../schema.ts'
import { type Entry, navigation } from '../feed.ts'
import { libraries, libraryRef } from './entry.ts'
import { groupsOf } from './home.ts'
import { allSeries, newSeries } from './series-list.ts'
import { offsetOf, pagingOf, type Shelf } from './shelf.ts'

export const librariesShelf: Shelf = {
  path: '/libraries',
  summary: 'Libraries by name',
  async find(asked) {
    const { sql, viewer, pageSize } = asked
    const { data, total } = await pageOfLibraries(sql, viewer, {
      offset: offsetOf(asked),
      pageSize,
    })
    return navigation({
      ...libraries,
      entries: data.map(libraryEntry),
      paging: pagingOf(asked, total),
    })
  },
}

const libraryEntry = (library: LibraryShelf): Entry => ({
  ...libraryRef(library),
  id: library.id,
  updated: library.updatedAt,
  count: library.seriesCount,
})

export const libraryHome: Shelf = {
  path: '/libraries/{id}',
  summary: 'What is new in a library, what to read on, and the way to its series',
  only: 2,
  params: Id.properties,
  async find(asked) {
    const library = await libraryName(asked.sql, asked.viewer, asked.params.id!)
    const groups = await groupsOf(asked, library)
    const { path, title } = libraryRef(library)
    const browse: Entry = {
      ...{ path: `${path}/browse`, title: allSeries.title, kind: 'navigation' },
      updated: library.updatedAt,
      // Its new series are all its series in another order.
      count: groups.find(group => group.path === newSeries.path)?.total ?? 0,
    }
    return navigation({
      ...{ path, title, id: library.id, updated: library.updatedAt, up: libraries },
      ...{ entries: [browse], groups },
    })
  },
}
