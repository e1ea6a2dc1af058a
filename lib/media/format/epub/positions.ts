// Positions of an EPUB, which are also its pages: one per 1024 bytes of a resource, at least one per
// resource; exactly one per resource of a fixed layout (Readium position list).

const positionBytes = 1024
// Declared sizes may be wrong: in larger books positions are longer.
const maxPositions = 100_000

/** The number of positions in each resource of the reading order. */
export function positionCounts(
  readingOrder: readonly { bytes: number }[],
  isFixedLayout: boolean,
): number[] {
  const countsFor = (unitBytes: number) =>
    readingOrder.map(({ bytes }) => (isFixedLayout ? 1 : Math.max(1, Math.ceil(bytes / unitBytes))))
  let unitBytes = positionBytes
  let counts = countsFor(unitBytes)
  while (sum(counts) > Math.max(maxPositions, readingOrder.length)) {
    unitBytes *= 2
    counts = countsFor(unitBytes)
  }
  return counts
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
