// The groups of a home: of the whole catalogue or of a library.
import type { LibraryName } from '../../catalog/library/library-browse.ts'
import type { Group } from '../feed.ts'
import { keepReading, newBooks, onDeck } from './books.ts'
import { groupOf } from './listing.ts'
import { newSeries } from './series-list.ts'
import type { Asked } from './shelf.ts'

/** Without those that have nothing in them. */
export async function groupsOf(asked: Asked, library: LibraryName | null): Promise<Group[]> {
  const listings = [keepReading, onDeck, newBooks, newSeries]
  const groups = await Promise.all(listings.map(listing => groupOf(listing, asked, library)))
  return groups.filter(group => group !== null)
}
