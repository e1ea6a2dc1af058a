// Relevance of search hits: how similar titles are, from 0 to 1.
import { matchKey } from '../media/name/text.ts'

const maxLength = 300

/** 1 for titles that differ only in case, accents and punctuation; of several titles the best counts. */
export function relevanceOf(query: string, titles: readonly string[]): number {
  const wanted = keyOf(query)
  if (wanted === '') return 0
  const best = titles.reduce((most, title) => Math.max(most, similarity(wanted, keyOf(title))), 0)
  return Math.round(best * 1000) / 1000
}

const keyOf = (title: string) => matchKey(title.slice(0, maxLength))

/** Dice coefficient of character pairs. */
function similarity(a: string, b: string): number {
  if (a === b) return 1
  const [first, second] = [pairsOf(a), pairsOf(b)]
  if (first.length === 0 || second.length === 0) return 0
  const counts = new Map<string, number>()
  for (const pair of first) counts.set(pair, (counts.get(pair) ?? 0) + 1)
  let common = 0
  for (const pair of second) {
    const count = counts.get(pair) ?? 0
    if (count === 0) continue
    counts.set(pair, count - 1)
    common++
  }
  // Only equality is certain.
  return Math.min(0.99, (2 * common) / (first.length + second.length))
}

function pairsOf(text: string): string[] {
  const characters = [...text]
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`)
}
