// Bulk marks and metadata: a book marked twice counts as read once.
import type { Writer, WriterContext } from './writer.ts'

const maxBooks = 12

export function markWriter({ send, random, accountId, books }: WriterContext): Writer {
  const read = new Map<string, { isRead: boolean; passes: number }>()
  const publishers = new Map<string, string>()
  const problems: string[] = []
  let count = 0
  return {
    async write() {
      if (books().length === 0) return
      const bookIds = random.some(books(), maxBooks).map(({ id }) => id)
      if (bookIds.length === 0) return
      count += 1
      const mark = random.pick(['read', 'unread', 'metadata'] as const)
      const publisher = `Publisher ${count}`
      const isMetadata = mark === 'metadata'
      const { status, body } = await send(`/api/v1/books/bulk/${mark}`, {
        method: isMetadata ? 'PATCH' : 'POST',
        body: isMetadata ? { bookIds, publisher } : { bookIds },
      })
      if (status !== 200) problems.push(`${mark}: ${status} ${body.slice(0, 200)}`)
      for (const id of bookIds) {
        if (isMetadata) publishers.set(id, publisher)
        else {
          const { isRead, passes } = read.get(id) ?? { isRead: false, passes: 0 }
          const isNew = mark === 'read' && !isRead
          read.set(id, { isRead: mark === 'read', passes: passes + Number(isNew) })
        }
      }
    },
    count: () => count,
    async compare(sql) {
      type Row = { id: string; isRead: boolean; passes: number; publisher: string | null }
      const rows = await sql<Row[]>`
        select b.id, b.publisher, coalesce(p.is_completed, false) as "isRead", (
          select count(*)::integer from reading_pass r
          where r.account_id = ${accountId} and r.book_id = b.id) as passes
        from book b left join progress p on p.account_id = ${accountId} and p.book_id = b.id
        where b.id = any(${[...read.keys(), ...publishers.keys()]}::uuid[])`
      for (const { id, isRead, passes, publisher } of rows) {
        const expected = read.get(id) ?? { isRead: false, passes: 0 }
        if (isRead !== expected.isRead || passes !== expected.passes)
          problems.push(
            `${id} is read: ${isRead}, ${passes} times, instead of ${expected.isRead}, ${expected.passes} times`,
          )
        if (publishers.has(id) && publisher !== publishers.get(id))
          problems.push(`${id} has ${publisher} instead of ${publishers.get(id)}`)
      }
      return problems
    },
  }
}
