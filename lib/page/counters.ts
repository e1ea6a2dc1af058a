// What delivering pages costs, counted where it happens.

export type PageCounters = {
  /** Pages and derived images that were asked for. */
  requests: number
  /** Files opened, and reads from them, by the main thread. */
  opens: number
  reads: number
  bytesRead: number
  /** Lists of pages that had to be made. */
  directories: number
  /** Tasks given to threads. */
  tasks: number
  /** Derived images found in the page cache. */
  cached: number
}

export const pageCounters: PageCounters = {
  requests: 0,
  opens: 0,
  reads: 0,
  bytesRead: 0,
  directories: 0,
  tasks: 0,
  cached: 0,
}
