// Worn threads: what was read in a thread before can make a sound file fail, in particular for want of memory. Such a failure
// ends the thread, and counts when it is repeated in a new one.

/** Ends the thread; its pool runs the item again in another. */
export class WornThread extends Error {
  readonly code = 'ERR_THREAD_WORN'
}

/** Whether an error is that of a thread that ended as worn. */
export const isWorn = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'ERR_THREAD_WORN'

let items = 0

/** Counts an item that this thread starts. */
export function startItem() {
  items += 1
}

/** Whether this thread has started only one item. */
export const isNewThread = (): boolean => items <= 1

/** Whether a result may be the fault of earlier files. */
export const isForMemory = ({
  error,
}: {
  error?: { code: string; message: string } | null
}): boolean => error?.code === 'memory'
