// Interruption of `stackroom scan`: closed pipe, Ctrl-C, concurrent server.
import { once } from 'node:events'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { folderWithFiles } from '../kit/files/folders.ts'
import { holdBooks } from '../kit/hold-books.ts'
import { comicFiles } from '../kit/library.ts'
import { waitUntil } from '../kit/processes.ts'

const { sql, start, stackroom } = await commandLine(t)
// Deleted at the end: the doctor reports folders of libraries that are gone.
const root = folderWithFiles(t, comicFiles(200))

t.test('a closed pipe ends the scan without a message', async t => {
  const hold = await holdBooks(sql)
  let closed = false
  const { code, stderr } = await stackroom(['scan', root, '--ndjson'], child => {
    if (closed) return
    closed = true
    child.stdout!.destroy()
    void hold.release()
  })
  t.ok(closed)
  t.match({ code, stderr }, { code: 141, stderr: '' })
  const next = await stackroom(['scan', root, '--json'])
  t.equal(next.code, 0)
  t.match(JSON.parse(next.stdout), { found: 200, state: 'completed' })
})

t.test('Ctrl-C ends a scan cleanly, and the next one continues', async t => {
  const root = folderWithFiles(t, comicFiles(300))
  const hold = await holdBooks(sql)
  let interrupted = false
  const { code, stderr } = await stackroom(['scan', root, '--ndjson'], child => {
    if (interrupted) return
    interrupted = true
    child.kill('SIGINT')
    void hold.release()
  })
  t.equal(code, 130)
  t.equal(stderr, 'stackroom: Interrupted; the next scan continues from here\n')
  const next = await stackroom(['scan', root, '--json'])
  t.match(JSON.parse(next.stdout), { found: 300, state: 'completed', failed: {} })
  const [books] = await sql`
    select count(*)::integer as count from book b join library l on l.id = b.library_id
    where l.root = ${Buffer.from(root)}`
  t.equal(books!.count, 300)
  t.equal((await stackroom(['doctor'])).code, 0)
})

t.test('a scan completes while a server runs on the same database', async t => {
  const root = folderWithFiles(t, comicFiles(20))
  const server = start(['serve', '--port', '0'])
  let output = ''
  server.stdout!.on('data', chunk => {
    output += chunk
  })
  await waitUntil(() => output.includes('listening on'))
  const { code, stdout } = await stackroom(['scan', root, '--json'])
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { found: 20, new: 20, failed: {} })
  server.kill('SIGTERM')
  const [ended] = await once(server, 'close')
  t.equal(ended, 0)
})
