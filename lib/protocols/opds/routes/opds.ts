// Routes of the OPDS catalogs.
import {
  keepReading,
  newBooks,
  onDeck,
  releases,
  wantedBooks,
  wantedSeries,
} from '../shelf/books.ts'
import { groupingShelves } from '../shelf/groupings.ts'
import { labelShelves } from '../shelf/labels.ts'
import { listingShelf } from '../shelf/listing.ts'
import { presetShelves } from '../shelf/presets.ts'
import { librariesShelf, libraryHome, root } from '../shelf/root.ts'
import { searchShelf } from '../shelf/search.ts'
import { oneSeries } from '../shelf/series.ts'
import { libraryShelves, newSeries, seriesShelf, updatedSeries } from '../shelf/series-list.ts'
import type { Shelf } from '../shelf/shelf.ts'
import { coverRoutes } from './covers.ts'
import { atomDocuments, fileRoutes, jsonDocuments } from './documents.ts'
import { shelfRoutes } from './feeds.ts'
import { manifests } from './manifests.ts'
import { pageRoutes } from './page-stream.ts'
import { readingRoutes } from './reading.ts'

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

export const opds = [
  ...fileRoutes,
  ...coverRoutes,
  ...pageRoutes,
  ...atomDocuments,
  ...shelfFeeds,
  ...jsonDocuments,
  ...manifests,
  ...readingRoutes,
]
