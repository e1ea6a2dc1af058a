// Routes of the OPDS catalogs.
import { coverRoutes } from './covers.ts'
import { atomDocuments, jsonDocuments } from './documents.ts'
import { fileRoutes } from './file.ts'
import { manifests } from './manifests.ts'
import { pageRoutes } from './page-stream.ts'
import { readingRoutes } from './reading.ts'
import { shelfFeeds } from './shelves.ts'

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
