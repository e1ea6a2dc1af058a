// Everything below /opds.
import { atomDocuments } from './opds/atom-documents.ts'
import { coverRoutes } from './opds/covers.ts'
import { fileRoutes } from './opds/file.ts'
import { jsonDocuments } from './opds/json-documents.ts'
import { manifests } from './opds/manifests.ts'
import { pageRoutes } from './opds/page-stream.ts'
import { readingRoutes } from './opds/reading.ts'
import { resourceRoutes } from './opds/resource.ts'
import { shelfFeeds } from './opds/shelves.ts'

export const opds = [
  ...fileRoutes,
  ...coverRoutes,
  ...pageRoutes,
  ...atomDocuments,
  ...shelfFeeds,
  ...jsonDocuments,
  ...manifests,
  ...readingRoutes,
  ...resourceRoutes,
]
