// Root of the catalogue, and the groups of a home (of the catalogue or of a library).
import type { LibraryName } from '../../catalog/library/library.ts'
import {
  catalogueRoot,
  type FeedRef,
  type Group,
  type NavigationEntry,
  navigationFeed,
} from '../feed.ts'
import { keepReading, newBooks, onDeck, releases } from './books.ts'
import { libraries } from './entry.ts'
import { groupOf } from './listing.ts'
import { allSeries, genres, newSeries, publishers, tags, updatedSeries } from './series-list.ts'
import type { Shelf, ShelfRequest } from './shelf.ts'

const toEntry = ({ path, title, kind }: FeedRef): NavigationEntry => ({
  path,
  title,
  kind,
  updatedAt: null,
})

const entries: NavigationEntry[] = [
  toEntry(keepReading),
  toEntry(onDeck),
  { ...toEntry(newBooks), rel: 'http://opds-spec.org/sort/new' },
  ...[releases, allSeries, newSeries, updatedSeries].map(toEntry),
  ...[libraries, publishers, genres, tags].map(toEntry),
]

export const root: Shelf = {
  path: '',
  summary: 'Root of the catalogue',
  load: async request =>
    navigationFeed({
      ...catalogueRoot,
      up: null,
      entries,
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
