// Statements on rows by their ids: the rows in the order of the ids, and one plan for all executions.
import t from 'tap'
import { unrestrictedViewer } from '../../../lib/accounts/viewer.ts'
import { readOpenBooks } from '../../../lib/catalog/book/book-file.ts'
import { booksByIds } from '../../../lib/catalog/book/book-record.ts'
import { connectionsLike } from '../../../lib/store/postgres/db.ts'
import { createDatabase } from '../../kit/db.ts'
import { makeFacts, storeFacts } from '../../list/catalog-facts.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(3, 60)
await storeFacts(sql, facts)
const viewer = unrestrictedViewer(facts.accounts[0]!)
const ids = facts.books.map(book => book.id)

for (const count of [1, 3, 12]) {
  t.test(`look-ups of ${count} at once use a plan that is made once`, async t => {
    const connection = connectionsLike(sql, { max: 1, connection: {} })
    t.teardown(() => connection.end())
    const rounds = 20
    for (let round = 0; round < rounds; round++) {
      const requested = ids.slice(round, round + count).reverse()
      const books = await booksByIds(connection, viewer, requested)
      t.same(
        books.map(book => book.id),
        requested,
      )
      const open = await readOpenBooks(connection, viewer, requested)
      t.same([...open.keys()].sort(), requested.toSorted())
    }
    const statements = await connection<{ planned: number }[]>`
      select custom_plans as planned from pg_prepared_statements
      where generic_plans + custom_plans >= ${rounds}`
    t.ok(statements.length > 1)
    for (const { planned } of statements) t.ok(planned < rounds / 2, `planned ${planned} times`)
  })
}
