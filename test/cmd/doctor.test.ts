// `stackroom doctor`: findings, repair, exit codes.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { doctorFindings } from '../kit/catalog.ts'
import { commandLine } from '../kit/command.ts'
import { folderWithFiles, temporaryFolder } from '../kit/files/folders.ts'
import { comic } from '../kit/library.ts'

const data = join(temporaryFolder(t), 'data')
const { sql, stackroom } = await commandLine(t, {}, data)
const root = folderWithFiles(t, { 'A/1.cbz': comic(), 'A/2.cbz': comic(), 'B/1.cbz': comic() })

t.test('a lost queue and wrong counters are found and repaired', async t => {
  await stackroom(['scan', root])
  const healthy = await stackroom(['doctor'])
  t.equal(healthy.code, 0)
  t.match(healthy.stdout, /PostgreSQL +\d+.*series counters +ok.*No problems found/s)

  await sql`drop schema pgboss cascade`
  await sql`update book_artifact set cover = null, sha256 = null`
  await sql`update series set book_count = 7`
  const broken = await stackroom(['doctor', '--json'])
  t.equal(broken.code, 1)
  const { environment, findings, isHealthy } = JSON.parse(broken.stdout)
  t.equal(isHealthy, false)
  t.match(environment[0], { name: 'PostgreSQL', isGood: true })
  const problems = findings.filter((f: { count: number }) => f.count > 0)
  t.same(
    problems.map(({ name, count }: { name: string; count: number }) => [name, count]),
    [
      ['series counters', 2],
      ['covers', 3],
      ['hashes', 3],
    ],
  )

  const repaired = await stackroom(['doctor', '--repair'])
  t.equal(repaired.code, 0)
  t.match(repaired.stdout, '3, repaired')
  t.equal((await stackroom(['scan', root])).code, 0)
  const [done] =
    await sql`select count(cover)::integer as covers, count(sha256)::integer as hashes from book_artifact`
  t.same(done, { covers: 3, hashes: 3 })
  t.same(await doctorFindings({ sql, data }), [])
})

t.test('a folder of a library that is gone is a problem', async t => {
  renameSync(root, `${root} gone`)
  const gone = await stackroom(['doctor'])
  renameSync(`${root} gone`, root)
  t.equal(gone.code, 1)
  t.match(gone.stdout, /is not accessible \(ENOENT\).*Problems found/s)
})

t.test('--json prints one object also when nothing can be checked', async t => {
  const key = join(data, 'stackroom.keys')
  renameSync(key, `${key}.away`)
  writeFileSync(key, 'not a key')
  const failed = await stackroom(['doctor', '--json'])
  renameSync(`${key}.away`, key)
  t.equal(failed.code, 2)
  t.match(failed.stderr, /is not a key file/)
  t.match(JSON.parse(failed.stdout), {
    isHealthy: false,
    environment: [],
    findings: [],
    error: /is not a key file/,
  })
  t.match(JSON.parse((await stackroom(['doctor', '--json'])).stdout), { error: null })
})
