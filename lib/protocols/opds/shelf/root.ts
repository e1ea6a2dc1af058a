// Root of the catalog, and the groups of a home (of the catalog or of a library).
import type { LibraryName } from '../../../catalog/library/library.ts'
import {
  catalogRoot,
  type FeedRef,
  type Group,
  type NavigationEntry,
  navigationFeed,
} from '../feed.ts'
import { keepReading, newBooks, onDeck, releases } from './books.ts'
import { libraries } from './entry.ts'
import { collectionsRef, readListsRef } from './groupings.ts'
import { groupOf, type Listing } from './listing.ts'
import { presetsRef } from './presets.ts'
import { allSeries, genres, newSeries, publishers, tags, updatedSeries } from './series-list.ts'
import type { Shelf, ShelfRequest } from './shelf.ts'
import { wantedBooks, wantedSeries } from './want-to-read.ts'

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
