// A feed as JSON (OPDS 2.0).
import type { Feed } from '../feed.ts'
import type { Writing } from '../writing.ts'

export function jsonFeed(feed: Feed, { links }: Writing): object {
  return { metadata: { title: feed.title }, links: [{ rel: 'self', href: links.to(feed.path) }] }
}
