// Counters of file and page delivery, for metrics and tests.

export type DeliveryCounters = {
  /** Requests for pages and images derived from them. */
  requests: number
  /** Files opened, and reads from them, by the main thread. */
  opens: number
  reads: number
  bytesRead: number
  /** Page directories built from files. */
  directories: number
  /** Tasks sent to page threads. */
  tasks: number
  /** Images served from the page cache. */
  cached: number
}

export const deliveryCounters: DeliveryCounters = {
  requests: 0,
  opens: 0,
  reads: 0,
  bytesRead: 0,
  directories: 0,
  tasks: 0,
  cached: 0,
}
