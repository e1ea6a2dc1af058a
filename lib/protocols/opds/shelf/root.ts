// Root of the catalog, the shelves of libraries, and their homes in OPDS 2.0.
import { uuid } from '../../../base/schema.ts'
import {
  browseLibraries,
  type LibraryEntry,
  type LibraryName,
  libraryName,
} from '../../../catalog/library/library.ts'
import {
  catalogRoot,
  type FeedRef,
  type Group,
  type NavigationEntry,
  navigationFeed,
} from '../feed.ts'
import { keepReading, newBooks, onDeck, releases, wantedBooks, wantedSeries } from './books.ts'
import { countOf, libraries, libraryRef } from './entry.ts'
import { collectionsRef, readListsRef } from './groupings.ts'
import { groupOf, type Listing } from './listing.ts'
import { presetsRef } from './presets.ts'
import { allSeries, genres, newSeries, publishers, tags, updatedSeries } from './series-list.ts'
import { offsetOf, pagingOf, type Shelf, type ShelfRequest } from './shelf.ts'

type RootShelf = FeedRef & Pick<Listing, 'updatedAt' | 'summary'> & Pick<NavigationEntry, 'rel'>

const shelves: RootShelf[] = [
  keepReading,
  onDeck,
  wantedBooks,
  wantedSeries,
  { ...newBooks, rel: 'http://opds-spec.org/sort/new' },
  releases,
  { ...allSeries, summary: 'Series by title' },
  newSeries,
  updatedSeries,
  { ...libraries, summary: 'Libraries by name' },
  { ...collectionsRef, summary: 'Collections of series by name' },
  { ...readListsRef, summary: 'Ordered books of several series' },
  { ...presetsRef, summary: 'Filters saved by the reader' },
  { ...publishers, summary: 'Series by publisher' },
  { ...genres, summary: 'Series by genre' },
  { ...tags, summary: 'Series by tag' },
]

async function entryOf(
  { path, title, kind, rel, summary, updatedAt }: RootShelf,
  request: ShelfRequest,
): Promise<NavigationEntry> {
  const at = updatedAt ? await updatedAt(request) : null
  return { path, title, kind, updatedAt: at, description: `${summary}.`, ...(rel ? { rel } : {}) }
}

export const root: Shelf = {
  path: '',
  summary: 'Root of the catalog',
  load: async request =>
    navigationFeed({
      ...catalogRoot,
      up: null,
      entries: await Promise.all(shelves.map(shelf => entryOf(shelf, request))),
      groups: request.version === 2 ? await homeGroups(request, null) : [],
    }),
}

/** The first items of each listing, without empty groups. */
export async function homeGroups(
  request: ShelfRequest,
  library: LibraryName | null,
): Promise<Group[]> {
  const listings = [keepReading, onDeck, newBooks, newSeries]
  const groups = await Promise.all(listings.map(listing => groupOf(listing, request, library)))
  return groups.filter(group => group !== null)
}

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
