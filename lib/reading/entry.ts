// Entries of the reading ledger (`reading_session`), as values.
import type { JSONValue } from 'postgres'

/** Surfaces that record reading. */
export type Surface = 'api' | 'page_stream' | 'opds' | 'koreader' | 'session' | 'komga'

/**
 * `progress` and `completed` are sittings, by their newest position; `read` and `reset` are the user's marks;
 * `forget` removes the pass at its time from the history; `baseline` is a position whose history was
 * erased.
 */
export type EntryKind = 'progress' | 'completed' | 'read' | 'reset' | 'forget' | 'baseline'

/** Times in ms since 1970. */
export type Entry = {
  id: string
  bookId: string
  kind: EntryKind
  surface: Surface
  /** Id in reading_device. */
  device: number | null
  startedAt: number
  endedAt: number
  /** Sent by a client that recorded the whole sitting; never merged. */
  isSession: boolean
  measuredMs: number | null
  inferredMs: number | null
  pagesRead: number | null
  /** Whether it belongs to a measured session of the same device. */
  isPart: boolean
  page: number | null
  percentage: number | null
  /** Ascending times at which the beginning or the end of the book was read. */
  restartedAt: readonly number[]
  completedAt: readonly number[]
}

export const isSitting = ({ kind }: Pick<Entry, 'kind'>) =>
  kind === 'progress' || kind === 'completed'

/** A position as a client wrote it: returned unchanged until there is a newer one. */
export type StoredLocator = {
  device: JSONValue
  /** Time of reading as the client wrote it, in ms since 1970, if it differs from the position's. */
  modified?: number
  /** A Readium locator. */
  readium?: JSONValue
  koreader?: JSONValue
}
