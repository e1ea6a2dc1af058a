// Everything below /opds.
import { atomDocuments } from './opds/atom-documents.ts'
import { jsonDocuments } from './opds/json-documents.ts'
import { media } from './opds/media.ts'
import { readingRoutes } from './opds/reading.ts'
import { resourceRoutes } from './opds/resource.ts'
import { shelfFeeds } from './opds/shelves.ts'

export const opds = [
  ...media,
  ...atomDocuments,
  ...shelfFeeds,
  ...jsonDocuments,
  ...readingRoutes,
  ...resourceRoutes,
]
