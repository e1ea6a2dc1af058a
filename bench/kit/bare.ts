// A bare Fastify route over the statements of GET /books, without anything around it: what the API's
// own cost is measured against. node bench/kit/bare.ts <database url> <account id>
import fastify from 'fastify'
import type { Viewer } from '../../lib/accounts/viewer.ts'
import { booksByIds } from '../../lib/catalog/book/book-record.ts'
import { listBooks } from '../../lib/list/list-books.ts'
import { connect } from '../../lib/store/postgres/db.ts'
import { createServices } from '../../lib/store/services.ts'

const [url, accountId] = process.argv.slice(2)
const sql = connect(url!, { max: 10 })
const services = createServices(sql)
const viewer: Viewer = {
  accountId: accountId!,
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}
const firstPage = { filter: null, page: 1, pageSize: 50 }
const server = fastify()
server.get('/books', async () => {
  const { ids, total } = await listBooks({ sql, services }, viewer, firstPage)
  return { data: await booksByIds(sql, viewer, ids), total }
})
process.stdout.write(`${await server.listen({ host: '127.0.0.1', port: 0 })}\n`)
