// Interruption of `stackroom scan`: closed pipe, Ctrl-C, concurrent server.
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { doctorFindings } from '../kit/catalog.ts'
import { commandLine } from '../kit/command.ts'
import { folderWithFiles, temporaryFolder } from '../kit/files/folders.ts'
import { holdBooks } from '../kit/hold-books.ts'
import { comicFiles } from '../kit/library.ts'
import { waitUntil } from '../kit/processes.ts'

const data = join(temporaryFolder(t), 'data')
const { sql, start, stackroom } = await commandLine(t, {}, data)
const root = folderWithFiles(t, comicFiles(140))

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
  t.match(JSON.parse(next.stdout), { found: 140, state: 'completed' })
})

t.test('Ctrl-C ends a scan cleanly, and the next one continues', async t => {
  const root = folderWithFiles(t, comicFiles(140))
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
  t.match(JSON.parse(next.stdout), { found: 140, state: 'completed', failed: {} })
  const [books] = await sql`
    select count(*)::integer as count from book b join library l on l.id = b.library_id
    where l.root = ${Buffer.from(root)}`
  t.equal(books!.count, 140)
  t.same(await doctorFindings({ sql, data }), [])
})

t.test('a scan completes while a server runs on the same database', async t => {
  const root = folderWithFiles(t, comicFiles(3))
  const server = start(['serve', '--port', '0'])
  let output = ''
  server.stdout!.on('data', chunk => {
    output += chunk
  })
  await waitUntil(() => output.includes('listening on'))
  const { code, stdout } = await stackroom(['scan', root, '--json'])
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { found: 3, new: 3, failed: {} })
  server.kill('SIGTERM')
  const [ended] = await once(server, 'close')
  t.equal(ended, 0)
})
