// "Did you mean" suggestions by edit distance.

/** A clause to append to an error message; empty if no name is close. */
export function didYouMean(wrong: string, known: Iterable<string>): string {
  let best = ''
  let bestDistance = Math.max(2, Math.floor(wrong.length / 3)) + 1
  for (const name of known) {
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase())
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  return best ? `; did you mean ${best}?` : ''
}

// Levenshtein distance, row by row.
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length]!
}
