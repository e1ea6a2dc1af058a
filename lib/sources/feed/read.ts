// Reads a feed: from the body of a response to releases.
import { SourceFailure } from '../failure.ts'
import type { FeedConfig } from './config.ts'
import { readFeed } from './items.ts'
import { type FeedReleases, releasesOf } from './releases.ts'

export type FeedInput = { body: Uint8Array; charset: string | null; config: FeedConfig }
/** `failure` is the message of a SourceFailure `invalid`, because errors lose their class between threads. */
export type FeedOutput = { title: string | null; releases: FeedReleases } | { failure: string }

export function readReleases({ body, charset, config }: FeedInput): FeedOutput {
  try {
    const feed = readFeed(body, charset)
    return { title: feed.title, releases: releasesOf(feed, config) }
  } catch (error) {
    if (error instanceof SourceFailure) return { failure: error.message }
    throw error
  }
}
