// Deleting much in small transactions, so that nobody waits long for a lock and a stop is soon heard.

const most = 1_000

/** Runs a statement that deletes at most so many rows until nothing is left; answers how many rows went. */
export async function inBatches(
  remove: (most: number) => PromiseLike<{ count: number }>,
  stop: () => boolean = () => false,
): Promise<number> {
  for (let gone = 0; ; ) {
    if (stop()) return gone
    const { count } = await remove(most)
    gone += count
    if (count < most) return gone
  }
}
