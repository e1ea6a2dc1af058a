// OPDS feeds of all shelves, in the order of the root feed.
import { keepReading, newBooks, onDeck, releases } from '../../opds/shelf/books.ts'
import { groupingShelves } from '../../opds/shelf/groupings.ts'
import { labelShelves } from '../../opds/shelf/labels.ts'
import { librariesShelf, libraryHome } from '../../opds/shelf/libraries.ts'
import { listingShelf } from '../../opds/shelf/listing.ts'
import { presetShelves } from '../../opds/shelf/presets.ts'
import { root } from '../../opds/shelf/root.ts'
import { searchShelf } from '../../opds/shelf/search.ts'
import { oneSeries } from '../../opds/shelf/series.ts'
import {
  libraryShelves,
  newSeries,
  seriesShelf,
  updatedSeries,
} from '../../opds/shelf/series-list.ts'
import type { Shelf } from '../../opds/shelf/shelf.ts'
import { wantedBooks, wantedSeries } from '../../opds/shelf/want-to-read.ts'
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
