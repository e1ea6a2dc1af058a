// `stackroom scan` among others: a pipe that closes, Ctrl-C, a server on the same data.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { folderOf, manyComics } from '../kit/library.ts'

const { sql, start, stackroom } = await commandLine(t)

t.test('a reader that closes the pipe ends the scan quietly', async t => {
  const root = folderOf(t, manyComics(120))
  let closed = false
  const { code, stderr } = await stackroom(['scan', root, '--ndjson'], child => {
    closed = true
    child.stdout!.destroy()
  })
  t.ok(closed)
  t.match({ code, stderr }, { code: 141, stderr: '' })
  const next = await stackroom(['scan', root, '--json'])
  t.equal(next.code, 0)
  t.match(JSON.parse(next.stdout), { found: 120, state: 'completed' })
})

t.test('Ctrl-C ends a scan cleanly, and the next one goes on', async t => {
  const root = folderOf(t, manyComics(300))
  const { code, stderr } = await stackroom(['scan', root, '--ndjson'], child =>
    child.kill('SIGINT'),
  )
  t.match({ code, stderr }, { code: 130, stderr: '' })
  const next = await stackroom(['scan', root, '--json'])
  t.match(JSON.parse(next.stdout), { found: 300, state: 'completed', failed: {} })
  const [books] = await sql`
    select count(*)::integer as count from book b join library l on l.id = b.library_id
    where l.root = ${Buffer.from(root)}`
  t.equal(books!.count, 300)
  t.equal((await stackroom(['doctor'])).code, 0)
})

t.test('a scan while the server runs on the same data is done by either', async t => {
  const root = folderOf(t, manyComics(20))
  const server = start(['serve', '--port', '0'])
  let said = ''
  server.stdout!.on('data', chunk => {
    said += chunk
  })
  for (let left = 400; left > 0 && !said.includes('listens on'); left--) await sleep(25)
  t.match(said, 'listens on')
  const { code, stdout } = await stackroom(['scan', root, '--json'])
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { found: 20, new: 20, failed: {} })
  server.kill('SIGTERM')
  const [ended] = await once(server, 'close')
  t.equal(ended, 0)
})
