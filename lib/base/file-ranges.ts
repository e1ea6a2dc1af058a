// Ranges of a file that were read in advance: finds missing ones, and returns views of the rest.

/** Bytes. */
export type Range = { position: number; length: number }

// Reading a small gap between two ranges takes less time than another call on a slow disk.
const maxGapBytes = 32 * 1024

/** Merges the ranges within the file into as few as possible, disjoint and in order. */
export function mergeRanges(ranges: readonly Range[], fileBytes: number): Range[] {
  const merged: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.position - b.position)) {
    const start = Math.max(0, range.position)
    const end = Math.min(fileBytes, range.position + range.length)
    if (!(end > start)) continue
    const last = merged.at(-1)
    const lastEnd = last ? last.position + last.length : 0
    if (last && start <= lastEnd + maxGapBytes) last.length = Math.max(lastEnd, end) - last.position
    else merged.push({ position: start, length: end - start })
  }
  return merged
}

const headBytes = 4096

/** The two ends of a book file, where formats have their signatures and directories. */
export const endsOf = (fileBytes: number): Range[] => [
  { position: 0, length: headBytes },
  tailOf(fileBytes),
]

/** The end of a book file, with the directory of nearly every ZIP. */
export function tailOf(fileBytes: number): Range {
  const length = Math.min(fileBytes, Math.min(65_536, Math.max(8192, Math.ceil(fileBytes / 256))))
  return { position: fileBytes - length, length }
}

/** What has been read of a file. `find` returns a view, or null when part of the range is missing. */
export function createSpans() {
  let spans: { position: number; bytes: Buffer }[] = []
  const find = ({ position, length }: Range): Buffer | null => {
    for (const span of spans) {
      const start = position - span.position
      if (start >= 0 && start + length <= span.bytes.length)
        return span.bytes.subarray(start, start + length)
    }
    return null
  }
  return {
    find,
    add(position: number, bytes: Buffer) {
      spans.push({ position, bytes })
    },
    /** Removes all spans except the last `count`. */
    retain(count: number) {
      spans = count === 0 ? [] : spans.slice(-count)
    },
  }
}
