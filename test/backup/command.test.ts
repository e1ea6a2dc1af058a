// `stackroom backup` and `restore` as a person uses them: another machine, a server that runs, a killed process.
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { folderWithFiles, temporaryFolder } from '../kit/files/folders.ts'
import { comicFiles } from '../kit/library.ts'
import { processes } from '../kit/processes.ts'

const folder = temporaryFolder(t)
const file = join(folder, 'stackroom.backup')
const root = folderWithFiles(t, comicFiles(3))

t.test('a backup of one server starts another', async t => {
  const old = await processes(t)
  const server = await old.serve()
  t.equal((await old.stackroom(['scan', root])).code, 0)
  t.equal((await old.stackroom(['user', 'add', 'ada', '--generate'])).code, 0)
  const written = await old.stackroom(['backup', file, '--json'])
  t.equal(written.code, 0, written.stderr)
  t.match(JSON.parse(written.stdout), { books: 3, accounts: 1, libraries: 1 })
  const again = await old.stackroom(['backup', file])
  t.match(again, { code: 2, stderr: /exists already/ })

  const inUse = await old.stackroom(['restore', file, '--replace'])
  t.match(inUse, { code: 2, stderr: /database is in use: stop `serve`/ })
  await server.terminate()
  const full = await old.stackroom(['restore', file])
  t.match(full, { code: 2, stderr: /contains 1 accounts and 1 libraries; --replace deletes them/ })

  const data = join(folder, 'data')
  const other = await commandLine(t, {}, data)
  const checked = await other.stackroom(['restore', file, '--check'])
  t.match(checked, { code: 0, stdout: /3 books, 1 libraries, 1 accounts/ })
  t.same([...(await other.sql`select from account`)], [], 'nothing is restored')
  const restored = await other.stackroom(['restore', file])
  t.match(
    restored,
    { code: 0, stdout: /^\S+: 3 books, .+\nAll sessions have ended.+\n$/ },
    restored.stderr,
  )
  const scan = await other.stackroom(['scan', root, '--json'])
  t.equal(scan.code, 0, scan.stderr)
  t.match(JSON.parse(scan.stdout), { new: 0, unchanged: 3 })
  const thumbnails = readdirSync(join(data, 'thumbnails'), { recursive: true, encoding: 'utf8' })
  t.ok(
    thumbnails.some(name => name.includes('.')),
    'covers are made again',
  )
  const ids = (sql: typeof old.sql) => sql`select id, fingerprint from book order by id`
  t.same([...(await ids(other.sql))], [...(await ids(old.sql))])
  const doctor = await other.stackroom(['doctor'])
  t.match(doctor, { code: 0, stdout: /No problems found/ })

  for (const [name, credentials] of Object.entries({ Alpha: { key: 'x' }, Beta: {} }))
    await other.sql`
      insert into source (id, type, name, display_name, credentials)
      values (gen_random_uuid(), 'preset', ${name}, ${name}, ${other.sql.json(credentials)})`
  const second = `${file}-2`
  t.match(await other.stackroom(['backup', second]), {
    code: 0,
    stdout: /\nNot included: the key \(\S+\) for the credentials of Alpha; give a passphrase/,
  })
  t.match(await other.stackroom(['restore', second, '--replace']), {
    code: 0,
    stdout: /\nCredentials of these sources need the key file .+ again: Alpha\nAll sessions/,
  })
})

t.test('no process that is killed leaves a file that claims to be a backup', async t => {
  const { sql, start, stackroom } = await commandLine(t)
  t.equal((await stackroom(['migrate'])).code, 0)
  // Some seconds of work.
  await sql`
    insert into event (type, count, data)
    select 'test', 1, jsonb_build_object('text', repeat(md5(i::text), 20)) from generate_series(1, 60000) i`
  const target = join(folder, 'killed.backup')
  let interrupted = 0
  for (let i = 0; i < 3; i++) {
    const child = start(['backup', target])
    await sleep(500 + i * 200)
    child.kill('SIGKILL')
    await new Promise(resolve => child.once('close', resolve))
    if (existsSync(target)) break
    interrupted += 1
    const partial = `${target}.partial`
    if (!existsSync(partial)) continue
    const check = await stackroom.plain(['restore', partial, '--check'])
    t.match(check, { code: 2, stderr: /is not a (whole )?backup/ })
  }
  t.ok(interrupted > 0)
  const ended = start(['backup', join(folder, 'ended.backup')])
  await sleep(700)
  ended.kill('SIGTERM')
  await new Promise(resolve => ended.once('close', resolve))
  t.same(
    readdirSync(folder).filter(name => name.startsWith('ended') && name.endsWith('partial')),
    [],
  )
})

t.test('what is no backup is refused with a sentence', async t => {
  const { stackroom } = await commandLine(t)
  const text = join(folder, 'text')
  writeFileSync(text, 'hello')
  t.match(await stackroom(['restore', text]), {
    code: 2,
    stderr: /^stackroom: .*is not a whole backup/,
  })
  t.match(await stackroom(['restore', join(folder, 'none')]), { code: 2, stderr: /^stackroom: / })
})
