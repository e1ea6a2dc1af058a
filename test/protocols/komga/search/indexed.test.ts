// Lists of books and series under Komga's conditions from the index of bitmaps, which large catalogs have in memory.
import { deepEqual, equal } from 'node:assert/strict'
import t from 'tap'
import { unrestrictedViewer } from '../../../../lib/accounts/viewer.ts'
import { createBookIndex } from '../../../../lib/list/index/books/book-index.ts'
import { lists } from '../../../../lib/list/lists.ts'
import { checked, parseBookCondition } from '../../../../lib/protocols/komga/search/condition.ts'
import { createServices } from '../../../../lib/store/services.ts'
import { createDatabase } from '../../../kit/db.ts'
import { createRandom } from '../../../kit/random.ts'
import { environmentOf } from '../../../list/environment.ts'
import { createComparison, viewersOf } from './compare.ts'
import { createEvaluator, namesDeleted } from './evaluator.ts'
import { makeKomgaFacts, storeKomgaFacts } from './facts.ts'
import { bookTests, randomTree } from './random-trees.ts'

const { sql } = await createDatabase(t)
const facts = makeKomgaFacts(9, 40)
await storeKomgaFacts(sql, facts)

t.test('random trees select the same books from the index', async t => {
  const now = new Date()
  const { isVisibleBook, matchesBook } = createEvaluator(facts, facts.accounts[0]!, now)
  const index = createBookIndex(environmentOf(sql), { pause: 0 })
  const order = { sort: 'title', direction: 'asc', offset: 0, limit: 10_000 } as const
  index.refresh(unrestrictedViewer(facts.accounts[0]!), { ...order, filter: null })
  await index.idle()
  let pages = 0
  for (let seed = 1; seed <= 20; seed++) {
    const random = createRandom(seed)
    for (const { viewer, isAdmin } of viewersOf(facts)) {
      const tree = randomTree(random, bookTests(facts))
      const parsed = parseBookCondition(tree, { isAdmin, now })
      const { includeDeleted } = parsed
      const condition = checked(parsed)
      if (!condition) continue
      const filter = { of: 'book', condition } as const
      const page = await index.page(sql, viewer, { ...order, filter, includeDeleted })
      if (!page) continue
      const expected = facts.books.filter(
        b => (!b.missing || namesDeleted(tree)) && isVisibleBook(viewer)(b) && matchesBook(tree)(b),
      )
      const label = `${seed} ${JSON.stringify(tree)}`
      deepEqual([...page.ids].sort(), expected.map(b => b.id).sort(), label)
      equal(page.total, expected.length, label)
      pages++
    }
  }
  t.ok(pages > 0, `${pages} pages`)
})

t.test('random trees select the same series from the index', async t => {
  const db = { sql, services: createServices(sql) }
  const { series: index } = db.services(lists)
  const everyone = unrestrictedViewer(facts.accounts[0]!)
  const list = { filter: null, sort: 'title', direction: 'asc', offset: 0, limit: 10_000 } as const
  index.refresh(everyone, list)
  await index.idle()
  const compare = createComparison(db, facts)
  let selected = 0
  for (let seed = 1; seed <= 15; seed++) selected += (await compare(seed)).selected
  t.ok(selected > 0)
  t.ok(await index.page(sql, everyone, list), 'the index was valid all the time')
})
