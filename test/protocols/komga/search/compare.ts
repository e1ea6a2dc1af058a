// Comparison of the condition engine with the naive evaluator, for one random tree and one viewer.
import { deepEqual, equal } from 'node:assert/strict'
import type { Viewer } from '../../../../lib/accounts/viewer.ts'
import {
  parseBookCondition,
  parseSeriesCondition,
} from '../../../../lib/protocols/komga/search/condition.ts'
import { findBooks, findSeries } from '../../../../lib/protocols/komga/search/find.ts'
import type { WithServices } from '../../../../lib/store/services.ts'
import { createRandom } from '../../../kit/random.ts'
import type { BookFacts } from '../../../list/catalog-facts.ts'
import { withTypes } from './client-conditions.ts'
import { createEvaluator, namesDeleted, type Tree } from './evaluator.ts'
import type { KomgaFacts } from './facts.ts'
import { bookTests, randomTree, seriesTests } from './random-trees.ts'

const maxRows = 100_000
/** A tree for series and one for books, for each of two viewers. */
export const treesOfSeed = 4
const now = new Date()

/** An administrator, and a reader who sees two libraries, up to an age, without a sharing tag. */
export function viewersOf(facts: KomgaFacts): { viewer: Viewer; isAdmin: boolean }[] {
  const [accountId] = facts.accounts as [string]
  const unrestricted = {
    ...{ accountId, libraries: null, allowedTags: [], deniedTags: [] },
    ...{ ageLimit: null, showsUnrated: true },
  }
  const restricted = {
    ...{ accountId, libraries: facts.libraries.slice(0, 2), allowedTags: [] },
    ...{ deniedTags: [facts.sharingTags.adult!], ageLimit: 12, showsUnrated: true },
  }
  return [
    { viewer: unrestricted, isAdmin: true },
    { viewer: restricted, isAdmin: false },
  ]
}

/**
 * Returns a function that compares the trees of a seed, and returns for how many some rows or not all rows were
 * found; it throws an AssertionError with the tree.
 */
export function createComparison(db: WithServices, facts: KomgaFacts) {
  const evaluator = createEvaluator(facts, facts.accounts[0]!, now)
  const { booksOf, isVisibleBook, isVisibleSeries, matchesBook, matchesSeries } = evaluator
  const [forSeries, forBooks] = [seriesTests(facts), bookTests(facts)]
  const hasMissing = new Set(facts.books.filter(b => b.missing).map(b => b.series))
  return async (seed: number) => {
    const random = createRandom(seed)
    const counts = { selected: 0, partly: 0 }
    // Some clients name the class of each node.
    const sent = (tree: Tree) => (seed % 2 === 0 ? withTypes(tree) : tree)
    const count = (found: number, all: number) => {
      if (found > 0) counts.selected++
      if (found > 0 && found < all) counts.partly++
    }
    for (const reader of viewersOf(facts)) {
      const { viewer, isAdmin } = reader
      const context = { isAdmin, now }
      const isVisible = isVisibleBook(viewer)
      const page = { sort: [], seed: 0, offset: 0, limit: maxRows }
      // What only administrators see does not exist for others.
      const { sharingLabel: _, ...public_ } = forSeries
      const seriesTree = randomTree(random, isAdmin ? forSeries : public_)
      const foundSeries = await findSeries(db, reader, {
        ...page,
        ...parseSeriesCondition(sent(seriesTree), context),
      })
      const withDeleted = (tree: Tree) => namesDeleted(tree)
      const expectedSeries = facts.series.filter(s => {
        const books = booksOf(s)
        const isListed =
          books.length > 0 ? books.some(isVisible) : withDeleted(seriesTree) && hasMissing.has(s)
        return isListed && isVisibleSeries(viewer)(s) && matchesSeries(seriesTree, isVisible)(s)
      })
      const label = `${seed} ${JSON.stringify(seriesTree)}`
      deepEqual([...foundSeries.ids].sort(), expectedSeries.map(s => s.id).sort(), label)
      equal(foundSeries.total, expectedSeries.length, label)
      const bookTree = randomTree(random, forBooks)
      const foundBooks = await findBooks(db, reader, {
        ...page,
        ...parseBookCondition(sent(bookTree), context),
      })
      const isExpected = (b: BookFacts) =>
        (!b.missing || withDeleted(bookTree)) && isVisible(b) && matchesBook(bookTree)(b)
      const expectedBooks = facts.books.filter(isExpected).map(b => b.id)
      const bookLabel = `${seed} ${JSON.stringify(bookTree)}`
      deepEqual([...foundBooks.ids].sort(), expectedBooks.sort(), bookLabel)
      equal(foundBooks.total, expectedBooks.length, bookLabel)
      count(expectedSeries.length, facts.series.filter(isVisibleSeries(viewer)).length)
      count(expectedBooks.length, facts.books.filter(isVisible).length)
    }
    return counts
  }
}
