// Files and covers that failed: when they are tried again.
import t from 'tap'
import { version } from '../../../lib/base/version.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { zip } from '../../kit/files/archives.ts'
import { exampleImage } from '../../kit/files/images.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql } = all
const check = testWithDoctor(t, all)

type Attempt = { attempts: number; version: string; hoursAgo: number }

const setAttempt = (bookId: string, { attempts, version, hoursAgo }: Attempt) => sql`
  update book_artifact
  set attempts = ${attempts}, tried_version = ${version},
    tried_at = now() - ${hoursAgo} * interval '1 hour'
  where book_id = ${bookId}`

const attemptsOf = async (bookId: string) => {
  const [row] = await sql`
    select attempts, tried_version as version from book_artifact where book_id = ${bookId}`
  return { ...row }
}

check('a file that was filled in place, without a new time, is read again', async t => {
  const bytes = comic({ padding: 100_000 })
  const lib = await createTestLibrary(t, all, { 'A/1.cbz': Buffer.alloc(bytes.length) })
  t.match(await lib.scan(), { failed: { truncated: 1 } })
  const before = await lib.book('1.cbz')
  t.match(await lib.scan(), { opens: 0, failed: {} }, 'unchanged it is not opened')
  lib.replaceSilently('A/1.cbz', bytes)
  t.match(await lib.scan(), { failed: {}, opens: 3 })
  const after = await lib.book('1.cbz')
  t.match(after, { id: before.id, error: null, pages: 2 })
  t.match(after.sha256, /^[\da-f]{64}$/)
  t.not(after.sha256, before.sha256)
  t.ok(after.cover)
  t.match(await lib.scan(), { opens: 0 })
})

check('a file that failed and is gone is missing, and not read again', async t => {
  const broken = Buffer.from('neither this')
  const lib = await createTestLibrary(t, all, { 'A/1.cbz': broken, 'A/2.cbz': comic() })
  await lib.scan()
  lib.remove('A/1.cbz')
  t.match(await lib.scan(), { to_index: 0, missing: 1, failed: {} })
})

check('a book that failed for want of memory is tried again after pauses that double', async t => {
  const cases: [Attempt, isTried: boolean][] = [
    [{ attempts: 1, version, hoursAgo: 1 }, false],
    [{ attempts: 1, version, hoursAgo: 25 }, true],
    [{ attempts: 3, version, hoursAgo: 3 * 24 }, false],
    [{ attempts: 3, version, hoursAgo: 4 * 24 + 1 }, true],
    [{ attempts: 500, version, hoursAgo: 63 * 24 }, false],
    [{ attempts: 500, version, hoursAgo: 65 * 24 }, true],
    [{ attempts: 9, version: '0.0.0', hoursAgo: 0 }, true],
  ]
  const failures = ['memory', 'timeout', 'internal'].flatMap(code =>
    cases.map(([attempt, isTried]) => ({ code, attempt, isTried })),
  )
  const nameOf = (i: number) => `${String(i).padStart(2, '0')}.cbz`
  const files = Object.fromEntries(failures.map((_, i) => [`A/${nameOf(i)}`, comic()]))
  const lib = await createTestLibrary(t, all, files)
  await lib.scan()
  const ids = (await lib.books()).map(book => book.id)
  for (const [i, { code, attempt }] of failures.entries()) {
    await sql`update book set error_code = ${code}, error_message = 'x' where id = ${ids[i]!}`
    await setAttempt(ids[i]!, attempt)
  }
  await lib.scan()
  for (const [i, { code, attempt, isTried }] of failures.entries()) {
    const text = `${code} ${JSON.stringify(attempt)}`
    t.equal((await lib.book(nameOf(i))).error, isTried ? null : code, text)
    if (isTried) t.match(await attemptsOf(ids[i]!), { attempts: 0, version: null }, text)
  }
})

check('attempts are counted for each version', async t => {
  const lib = await createTestLibrary(t, all, { 'A/1.cbz': Buffer.from('no archive') })
  await lib.scan()
  const { id } = await lib.book('1.cbz')
  t.same(await attemptsOf(id), { attempts: 1, version })
  for (const attempts of [2, 3]) {
    await lib.scan({ mode: 'deep' })
    t.same(await attemptsOf(id), { attempts, version })
  }
  await setAttempt(id, { attempts: 9, version: '0.0.0', hoursAgo: 1_000 })
  t.match(await lib.scan(), { opens: 0 }, 'a damaged file is not tried again')
  await lib.scan({ mode: 'deep' })
  t.same(await attemptsOf(id), { attempts: 1, version })
})

check('a cover that cannot be made is tried again likewise', async t => {
  const avif = await exampleImage('avif')
  const page = { name: '1.avif', bytes: avif.subarray(0, avif.length / 2) }
  const lib = await createTestLibrary(t, all, { 'A/1.cbz': zip([page]), 'A/2.cbz': comic() })
  await lib.scan()
  const { id, cover } = await lib.book('1.cbz')
  t.equal(cover, null)
  t.match(await lib.scan(), { to_cover: 0, opens: 0 })
  await setAttempt(id, { attempts: 1, version: '0.0.0', hoursAgo: 0 })
  t.match(await lib.scan({ paths: ['A'] }), { to_cover: 0, opens: 0 }, 'by full scans only')
  t.match(await lib.scan(), { to_cover: 1, opens: 1 })
  t.same(await attemptsOf(id), { attempts: 1, version })
  t.match(await lib.scan(), { to_cover: 0, opens: 0 })
  await setAttempt(id, { attempts: 2, version, hoursAgo: 49 })
  t.match(await lib.scan(), { to_cover: 1 })
  t.same(await attemptsOf(id), { attempts: 3, version })
})
