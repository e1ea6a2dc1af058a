// Facts of a catalog with these titles: of series, each with one book of the same title.
import { type Facts, makeFacts } from './catalog-facts.ts'

export function makeTitledFacts(titles: readonly string[]): Facts {
  const facts = makeFacts(1, titles.length)
  const [account] = facts.accounts as [string]
  const [some] = facts.books
  const books = facts.series.map((series, i) => {
    const title = titles[i]!
    Object.assign(series, { title, titleSort: null, folder: null, ageRating: null, year: null })
    Object.assign(series, { ownGenres: [], ownTags: [] })
    const none = { titleSort: null, missing: false, number: null, ageRating: null, released: null }
    const id = series.id.replace(/^./, '0')
    return { ...some!, ...none, id, series, title, genres: [], tags: [], author: 'Ana' }
  })
  const book = books[0]!
  return {
    ...{ ...facts, books },
    progress: [{ account, book: book.id, page: 1, done: false, at: new Date() }],
    wanted: [{ account, series: null, book }],
  }
}
