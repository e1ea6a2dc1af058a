// Libraries and, in OPDS 2.0, the home of each.
import {
  type LibraryShelf,
  libraryShelf,
  libraryShelves as pageOfLibraries,
} from '../../catalog/library/library-shelf.ts'
import { Id } from '../../schema.ts'
import { type Entry, navigation, type Ref } from '../feed.ts'
import { libraryRef } from './entry.ts'
import { groupsOf } from './home.ts'
import { offsetOf, pagingOf, type Shelf } from './shelf.ts'

export const libraries: Ref = { path: '/libraries', title: 'Libraries', kind: 'navigation' }

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
    const library = await libraryShelf(asked.sql, asked.viewer, asked.params.id!)
    const { path, title } = libraryRef(library)
    return navigation({
      ...{ path, title, id: library.id, updated: library.updatedAt, up: libraries },
      entries: [
        {
          ...{ path: `${path}/browse`, title: 'All series', kind: 'navigation' },
          ...{ updated: library.updatedAt, count: library.seriesCount },
        },
      ],
      groups: await groupsOf(asked, library),
    })
  },
}
