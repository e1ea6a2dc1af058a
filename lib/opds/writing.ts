// What the writers of feeds have to know beside the feed.
import type { Links } from './links.ts'

export type Writing = {
  links: Links
  /** The name of this server. */
  server: string
  /** What the reader may do: what is not allowed is not offered. */
  may: { stream: boolean; sync: boolean }
  /** When anything last changed, for feeds that hold nothing that tells. */
  changed: Date
}
