// Thread that reads one feed: parsing megabytes of XML takes seconds, which requests must not wait for.
import { parentPort, workerData } from 'node:worker_threads'
import { SourceFailure } from '../failure.ts'
import type { FeedConfig } from './config.ts'
import { readFeed } from './items.ts'
import { type FeedReleases, releasesOf } from './releases.ts'

export type ThreadInput = { body: Uint8Array; charset: string | null; config: FeedConfig }
export type ThreadOutput = { title: string | null; releases: FeedReleases } | { failure: string }

function read({ body, charset, config }: ThreadInput): ThreadOutput {
  try {
    const feed = readFeed(body, charset)
    return { title: feed.title, releases: releasesOf(feed, config) }
  } catch (error) {
    if (error instanceof SourceFailure) return { failure: error.message }
    throw error
  }
}

parentPort?.postMessage(read(workerData as ThreadInput))
