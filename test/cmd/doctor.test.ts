// `stackroom doctor` as a user starts it.
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { comic, folderOf } from '../kit/library.ts'

const { sql, stackroom } = await commandLine(t)
const root = folderOf(t, { 'A/1.cbz': comic(), 'A/2.cbz': comic(), 'B/1.cbz': comic() })

t.test('a lost queue and wrong counters are found, mended, and worked off', async t => {
  await stackroom(['scan', root])
  const well = await stackroom(['doctor'])
  t.equal(well.code, 0)
  t.match(well.stdout, /PostgreSQL +\d+.*series counters +ok.*Nothing is wrong/s)

  await sql`drop schema pgboss cascade`
  await sql`update book set cover = null, sha256 = null`
  await sql`update series set book_count = 7`
  const ill = await stackroom(['doctor', '--json'])
  t.equal(ill.code, 1)
  const { facts, findings, isWell } = JSON.parse(ill.stdout)
  t.equal(isWell, false)
  t.match(facts[0], { name: 'PostgreSQL', isGood: true })
  const wrong = findings.filter((f: { count: number }) => f.count > 0)
  t.same(
    wrong.map(({ name, count }: { name: string; count: number }) => [name, count]),
    [
      ['series counters', 2],
      ['covers', 3],
      ['hashes', 3],
    ],
  )

  const mended = await stackroom(['doctor', '--repair'])
  t.equal(mended.code, 0)
  t.match(mended.stdout, '3, mended')
  t.equal((await stackroom(['scan', root])).code, 0)
  const [done] =
    await sql`select count(cover)::integer as covers, count(sha256)::integer as hashes from book`
  t.same(done, { covers: 3, hashes: 3 })
  t.equal((await stackroom(['doctor'])).code, 0)
})
