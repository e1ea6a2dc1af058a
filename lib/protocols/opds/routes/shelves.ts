// OPDS feeds of all shelves, in the order of the root feed.
import { keepReading, newBooks, onDeck, releases } from '../shelf/books.ts'
import { groupingShelves } from '../shelf/groupings.ts'
import { labelShelves } from '../shelf/labels.ts'
import { librariesShelf, libraryHome } from '../shelf/libraries.ts'
import { listingShelf } from '../shelf/listing.ts'
import { presetShelves } from '../shelf/presets.ts'
import { root } from '../shelf/root.ts'
import { searchShelf } from '../shelf/search.ts'
import { oneSeries } from '../shelf/series.ts'
import { libraryShelves, newSeries, seriesShelf, updatedSeries } from '../shelf/series-list.ts'
import type { Shelf } from '../shelf/shelf.ts'
import { wantedBooks, wantedSeries } from '../shelf/want-to-read.ts'
import { shelfRoutes } from './feeds.ts'

const shelves: Shelf[] = [
  root,
  ...[keepReading, onDeck, wantedBooks, wantedSeries, newBooks, releases].map(listingShelf),
  seriesShelf,
  ...[newSeries, updatedSeries].map(listingShelf),
  oneSeries,
  librariesShelf,
  libraryHome,
  ...libraryShelves,
  ...groupingShelves,
  ...presetShelves,
  ...labelShelves,
  searchShelf,
]

export const shelfFeeds = shelves.flatMap(shelfRoutes)
