// Everything below /opds.
import { shelfFeeds } from './opds/shelves.ts'

export const opds = [...shelfFeeds]
