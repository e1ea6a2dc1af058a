// Words that are looked for, and where books that have them are found.
import { Invalid } from '../../errors.ts'
import type { Ref } from '../feed.ts'
import type { Version } from '../tree.ts'

/** Characters of words or of a name that is asked for. */
export const mostWords = 500

/** Undefined for none. Throws Invalid for text that is none. */
export function wordsOf(said: string | undefined): string | undefined {
  if (said?.includes('\0')) throw new Invalid('The words hold a null character')
  return said?.trim().toWellFormed() || undefined
}

/** Each catalogue has its own name for the words: `{searchTerms}` of OpenSearch, `{?query}` of OPDS 2.0. */
export function searchRef(version: Version, words: string): Ref {
  return {
    path: '/search',
    query: version === 1 ? { q: words } : { query: words },
    title: 'Matching books',
    kind: 'acquisition',
  }
}
