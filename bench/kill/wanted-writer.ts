// The want-to-read list of an account: books are added, removed and ordered.
import type { Writer, WriterContext } from './writer.ts'

const path = '/api/v1/want-to-read'

export function wantedWriter({ send, random, accountId, books }: WriterContext): Writer {
  const entryIds = new Map<string, string>()
  let order: string[] = []
  let count = 0
  return {
    async write() {
      if (books().length === 0) return
      count += 1
      const what = random.pick(['add', 'add', 'remove', 'order'] as const)
      if (what === 'add') {
        const { id: bookId } = random.pick(books())
        const { body } = await send(path, { method: 'POST', body: { bookId } })
        entryIds.set(bookId, (JSON.parse(body) as { id: string }).id)
        if (!order.includes(bookId)) order.push(bookId)
      } else if (what === 'remove' && order.length > 0) {
        const bookId = random.pick(order)
        await send(`${path}/books/${bookId}`, { method: 'DELETE' })
        order = order.filter(other => other !== bookId)
      } else if (what === 'order') {
        order = random.shuffled(order)
        const body = { entryIds: order.map(id => entryIds.get(id)!) }
        await send(`${path}/order`, { method: 'PUT', body })
      }
    },
    count: () => count,
    async compare(sql) {
      const rows = await sql<{ id: string }[]>`
        select book_id as id from want_to_read where account_id = ${accountId} order by position`
      return rows.map(row => row.id).join() === order.join()
        ? []
        : [`${rows.length} entries, not the ${order.length} in their order`]
    },
  }
}
