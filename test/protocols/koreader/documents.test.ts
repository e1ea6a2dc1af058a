// Books of KOReader documents by file name, where many have the same name.
import { createHash } from 'node:crypto'
import { test } from 'tap'
import { unrestrictedViewer } from '../../../lib/accounts/viewer.ts'
import { findBookOfDocument } from '../../../lib/protocols/koreader/documents.ts'
import { insertAccount } from '../../kit/accounts.ts'
import { createDatabase } from '../../kit/db.ts'
import { insertBooks } from '../../kit/reading.ts'

const maxOfOneName = 1000

test('a name identifies the only visible book of up to 1,000, and none of more', async t => {
  const { sql } = await createDatabase(t)
  const { id: accountId } = await insertAccount(sql, 'reader')
  const hidden = await insertBooks(sql, Array<number>(maxOfOneName).fill(1), 'Hidden')
  const { library, books } = await insertBooks(sql, [1], 'Shown')
  // Names are unique within a folder.
  await sql`
    insert into directory (id, library_id, path)
    select id, library_id, convert_to(id::text, 'UTF8') from book`
  await sql`update book set directory_id = id`
  const viewer = { ...unrestrictedViewer(accountId), libraries: [library] }
  const find = () =>
    findBookOfDocument(sql, viewer, createHash('md5').update('1.cbz').digest('hex'))
  await sql`
    update book set name = '1.cbz' where id in (${books[0]!}, ${hidden.books[0]!})`
  t.match(await find(), { id: books[0], match: 'filename' })
  await sql`update book set name = '1.cbz' where id <> ${hidden.books.at(-1)!}`
  t.match(await find(), { id: books[0] }, `${maxOfOneName} books`)
  await sql`update book set name = '1.cbz' where id = ${hidden.books.at(-1)!}`
  t.equal(await find(), null, 'one more')
})
