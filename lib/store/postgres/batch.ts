// Batched deletes in many small transactions, so that locks are short and the work can be stopped.

const batchSize = 1_000

/**
 * Repeats a statement that deletes at most `limit` rows until none are left. Returns the number of deleted
 * rows.
 */
export async function deleteInBatches(
  deleteBatch: (limit: number) => PromiseLike<{ count: number }>,
  isStopped: () => boolean = () => false,
): Promise<number> {
  for (let deleted = 0; ; ) {
    if (isStopped()) return deleted
    const { count } = await deleteBatch(batchSize)
    deleted += count
    if (count < batchSize) return deleted
  }
}
