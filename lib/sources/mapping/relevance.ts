// How well a hit matches what was searched for, from 0 to 1.

import { withoutArticles } from '../../media/name/search-text.ts'
import { matchKey } from '../../media/name/text.ts'
import type { BookHit, BookQuery } from '../contract.ts'

const maxLength = 300

/** 1 for titles that differ only in case, accents and punctuation; of several titles the best counts. */
export function relevanceOf(query: string, titles: readonly string[]): number {
  const wanted = keyOf(query)
  if (wanted === '') return 0
  const best = titles.reduce((most, title) => Math.max(most, similarityOf(wanted, keyOf(title))), 0)
  return rounded(best)
}

/** A title alone, or one that matches only without its subtitle, is less certain than a title and an author. */
const unknownAuthor = 0.9
const withoutSubtitle = 0.95

/** 1 for the same ISBN, or for the same title and author. */
export function bookRelevanceOf(
  { title, author, isbn }: BookQuery,
  hit: Pick<BookHit, 'title' | 'alternateTitles' | 'authors' | 'isbns'>,
): number {
  if (isbn !== null && hit.isbns.includes(isbn)) return 1
  const titles = [hit.title, ...hit.alternateTitles]
  const ofTitle = Math.max(
    relevanceOf(title, titles),
    withoutSubtitle * relevanceOf(mainTitle(title), titles.map(mainTitle)),
  )
  if (author === null || hit.authors.length === 0) return rounded(ofTitle * unknownAuthor)
  const ofAuthor = relevanceOf(sortedWords(author), hit.authors.map(sortedWords))
  return rounded(ofTitle * (0.4 + 0.6 * ofAuthor))
}

const mainTitle = (title: string) => title.split(/[:;(]/, 1)[0]!
/** `Verne, Jules` is `Jules Verne`. */
const sortedWords = (name: string) =>
  name
    .split(/[\s,.]+/)
    .sort()
    .join(' ')
const rounded = (relevance: number) => Math.round(relevance * 1000) / 1000

const keyOf = (title: string) => matchKey(title.slice(0, maxLength))

/** Titles that differ only in articles, as `Hobbit, The`, are nearly certain. */
function similarityOf(wanted: string, title: string): number {
  const core = similarity(withoutArticles(wanted), withoutArticles(title))
  return Math.max(similarity(wanted, title), 0.99 * core)
}

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
