// Metadata aggregated from the visible books of a series, in records and conditions; books beyond an age limit are excluded.
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { formatNames } from '../../../../lib/media/format/formats.ts'
import { pdfOf, stream } from '../../../kit/files/pdf.ts'
import { holdBooks } from '../../../kit/hold-books.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { waitUntil } from '../../../kit/processes.ts'
import { startApi } from '../../../kit/server.ts'

const info = (fields: string) => comic({ pages: 2, info: `<ComicInfo>${fields}</ComicInfo>` })
const seen =
  '<Writer>Ana Author, Cid</Writer><Penciller>Cid</Penciller><Year>2001</Year><Publisher>Acme</Publisher><LanguageISO>en</LanguageISO>'
const first = info(`<Number>1</Number>${seen}`)
const second = info(`<Number>2</Number>${seen}<Summary>A beginning</Summary>`)
const secret = info(
  '<Number>0</Number><Writer>Unseen Writer</Writer><Year>1950</Year><Publisher>Unseen</Publisher><LanguageISO>fr</LanguageISO><Summary>Unseen summary</Summary>',
)
const report = pdfOf([
  '<</Type/Catalog/Pages 2 0 R>>',
  '<</Type/Pages/Count 1/Kids[3 0 R]>>',
  '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
  stream('', '9 9 9 9 re f'),
])

test('what the visible books of a series say', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const shelf = await createTestLibrary(t, all, {
    'Plain/1.cbz': first,
    'Plain/2.cbz': second,
    'Half/1.cbz': first,
    'Half/2.cbz': second,
    'Half/secret.cbz': secret,
    'Half/secret.pdf': report,
    'Half/secret error.cbz': Buffer.from('this is no archive'),
    'Half/secret missing.cbz': info('<Number>9</Number>'),
  })
  await shelf.scan()
  for (const { id, name } of await shelf.books())
    if (name.startsWith('secret'))
      t.equal((await admin.patch(`/books/${id}/metadata`, { ageRating: 18 })).status, 200)
  shelf.remove('Half/secret missing.cbz')
  await shelf.scan()
  const child = await all.createUser('reader')
  await admin.put(`/users/${child.id}`, { ageLimit: 12 })
  const idOf = async (title: string) =>
    (await admin.get('/series')).body.data.find((one: any) => one.title === title).id as string
  const ids = { plain: await idOf('Plain'), half: await idOf('Half') }
  await admin.patch(`/series/${ids.half}/metadata`, { ageRating: null })

  await t.test('the record of a series', async t => {
    const read = async (caller: typeof child, id: string) => {
      const { body } = await caller.get(`/series/${id}/full`)
      const [listed] = (await caller.get('/series/full')).body.data.filter((s: any) => s.id === id)
      t.same(listed.booksMetadata, body.booksMetadata)
      t.match(body, { metadata: { authors: [] }, summary: null, year: null })
      return body.booksMetadata
    }
    const plain = await read(child, ids.plain)
    t.match(plain, {
      authors: [
        { name: 'Ana Author', role: 'writer' },
        { name: 'Cid', role: 'writer' },
        { name: 'Cid', role: 'penciller' },
      ],
      ...{ publishers: ['Acme'], languages: ['en'], firstYear: 2001, lastYear: 2001 },
      ...{ ageRating: null, summary: { text: 'A beginning', number: '2' } },
    })
    t.equal(plain.authors.length, 3)
    const half = await read(child, ids.half)
    const { bookId: _, ...summary } = half.summary
    t.same({ ...half, summary: { ...summary, bookId: plain.summary.bookId } }, plain)
    t.match(await read(admin, ids.half), {
      authors: [{ name: 'Ana Author' }, {}, {}, { name: 'Unseen Writer' }],
      ...{ publishers: ['Acme', 'Unseen'], languages: ['en', 'fr'], firstYear: 1950 },
      ...{ lastYear: 2001, ageRating: 18, summary: { text: 'Unseen summary', number: '0' } },
    })
  })

  await t.test('follows edits of a book, and what a limit hides by them', async t => {
    const [book] = (await admin.get(`/series/${ids.plain}/books`)).body.data
    const read = async (caller: typeof child) => {
      const { body } = await caller.get(`/series/${ids.plain}/full`)
      const { bookCount, pageCount, booksMetadata } = body
      return { bookCount, pageCount, ...booksMetadata }
    }
    const edit = async (fields: object) =>
      t.equal((await admin.patch(`/books/${book.id}/metadata`, fields)).status, 200)
    const before = await read(child)
    await edit({ publisher: 'Aaa', language: 'de', year: 1990, ageRating: 18 })
    t.match(await read(admin), {
      ...{ publishers: ['Aaa', 'Acme'], languages: ['de', 'en'], firstYear: 1990, ageRating: 18 },
      ...{ bookCount: 2, pageCount: 4 },
    })
    t.match(await read(child), {
      ...{ publishers: ['Acme'], languages: ['en'], firstYear: 2001, ageRating: null },
      ...{ bookCount: 1, pageCount: 2 },
    })
    await edit({ publisher: 'Acme', language: 'en', year: 2001, ageRating: null })
    t.same(await read(child), before)
  })

  await t.test('conditions on the books of series', async t => {
    const list = async (caller: typeof child, condition: object) => {
      const { status, body } = await caller.post('/series/list', { condition })
      t.equal(status, 200)
      return body.data.map((one: any) => one.title) as string[]
    }
    const counts = [0, 1, 2, 3, 4, 5, 9]
    const conditions = [
      ...['is', 'isNot'].flatMap(operator =>
        formatNames.map(value => ({ format: { operator, value } })),
      ),
      ...['isNull', 'isNotNull'].map(operator => ({ format: { operator } })),
      ...['hasError', 'hasMissing', 'completion'].flatMap(field =>
        ['isTrue', 'isFalse'].map(operator => ({ [field]: { operator } })),
      ),
      ...['bookCount', 'pageCount'].flatMap(field =>
        counts.flatMap(value =>
          ['eq', 'gte', 'lte'].map(operator => ({ [field]: { operator, value } })),
        ),
      ),
    ]
    for (const id of Object.values(ids))
      await admin.patch(`/series/${id}/metadata`, { totalVolumeCount: 5 })
    for (const condition of conditions) {
      const found = await list(child, condition)
      t.equal(found.includes('Half'), found.includes('Plain'), JSON.stringify(condition))
    }
    t.same(await list(child, { pageCount: { operator: 'eq', value: 4 } }), ['Half', 'Plain'])
    t.same(await list(admin, { format: { operator: 'is', value: 'PDF' } }), ['Half'])
    t.same(await list(admin, { hasError: { operator: 'isTrue' } }), ['Half'])
    t.same(await list(admin, { hasMissing: { operator: 'isTrue' } }), ['Half'])
    t.same(await list(admin, { completion: { operator: 'isTrue' } }), ['Half'])
    t.same(await list(child, { completion: { operator: 'isFalse' } }), ['Half', 'Plain'])
    t.same(await list(admin, { bookCount: { operator: 'eq', value: 5 } }), ['Half'])
    t.same(await list(admin, { pageCount: { operator: 'gt', value: 4 } }), ['Half'])
  })
})

test('accounts with different age limits see what the books say that each of them sees', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const ratings: (number | null)[] = [null, 0, 6, 12, 13, 18, 100]
  const shelf = await createTestLibrary(
    t,
    all,
    Object.fromEntries(
      ratings.map((_, i) => [
        `Mixed/${i}.cbz`,
        info(`<Writer>Writer ${i}</Writer><Publisher>${i}</Publisher><Year>${2000 + i}</Year>`),
      ]),
    ),
  )
  await shelf.scan()
  const books = (await shelf.books()).toSorted((a, b) => a.name.localeCompare(b.name))
  const { seriesId } = books[0]!
  const rate = async (i: number, ageRating: number | null) => {
    ratings[i] = ageRating
    t.equal((await admin.patch(`/books/${books[i]!.id}/metadata`, { ageRating })).status, 200)
  }
  for (const [i, rating] of ratings.entries()) await rate(i, rating)
  await admin.patch(`/series/${seriesId}/metadata`, { ageRating: null })
  const callers: { limit: number | null; caller: typeof admin }[] = [{ limit: null, caller: admin }]
  for (const limit of [0, 5, 6, 12, 17, 18, 99, 100]) {
    const caller = await all.createUser('reader')
    t.equal((await admin.put(`/users/${caller.id}`, { ageLimit: limit })).status, 200)
    callers.push({ limit, caller })
  }
  const check = async (name: string) => {
    for (const { limit, caller } of callers) {
      const seen = ratings.flatMap((rating, i) =>
        rating === null || limit === null || rating <= limit ? [i] : [],
      )
      const { body } = await caller.get(`/series/${seriesId}/full`)
      const expected = {
        bookCount: seen.length,
        booksMetadata: {
          publishers: seen.map(String),
          authors: seen.map(i => ({ name: `Writer ${i}` })),
          firstYear: 2000 + seen[0]!,
          lastYear: 2000 + seen.at(-1)!,
        },
      }
      t.match(body, expected, `${name}: limit ${limit}`)
      t.equal(body.booksMetadata.publishers.length, seen.length)
    }
  }
  await check('rated')
  await rate(4, 12)
  await rate(6, null)
  await check('two ratings changed')
  await all.sql`delete from series_books_metadata where series_id = ${seriesId}`
  await check('nothing is stored')
  shelf.remove('Mixed/5.cbz')
  ratings[5] = Number.POSITIVE_INFINITY
  await shelf.scan()
  callers.shift()
  await check('a book is missing')
  for (const i of [1, 2, 3, 4]) await rate(i, null)
  await check('nothing is rated')
})

test('a library is deleted in the scan that has taken a book of another one', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const book = (name: string) =>
    info(`<Writer>${name}</Writer><Publisher>${name}</Publisher><Genre>${name}</Genre>`)
  const left = await createTestLibrary(t, all, {
    'Series/1.cbz': book('Stays'),
    'Series/2.cbz': book('Leaves'),
  })
  const taking = await createTestLibrary(t, all, { 'Other/0.cbz': first })
  for (const library of [left, taking]) await library.scan()
  const series = (await admin.get('/series')).body.data.find((one: any) => one.title === 'Series')
  const read = async () => (await admin.get(`/series/${series.id}/full`)).body
  t.same((await read()).booksMetadata.publishers, ['Leaves', 'Stays'])

  mkdirSync(join(taking.root, 'More'))
  renameSync(join(left.root, 'Series/2.cbz'), join(taking.root, 'More/000.cbz'))
  // More than one batch, so that the scan is not complete when the library is deleted.
  for (let i = 0; i < 150; i++) taking.write(`More/${i}.cbz`, comic({ pages: 1 }))
  const hold = await holdBooks(all.sql)
  const scan = taking.scan()
  await hold.isReached()
  t.equal((await admin.delete(`/libraries/${taking.id}`)).status, 204)
  await hold.release()
  await scan.catch(() => {})
  await waitUntil(
    async () => (await all.sql`select from library where id = ${taking.id}`).length === 0,
  )
  t.match(await read(), { bookCount: 1, booksMetadata: { publishers: ['Stays'] } })
  await left.scan()
  t.match(await read(), {
    ...{ bookCount: 1, genres: [{ name: 'Stays' }] },
    booksMetadata: { publishers: ['Stays'], authors: [{ name: 'Stays' }] },
  })
  t.same((await read()).booksMetadata.publishers, ['Stays'])
  const authored = { author: { operator: 'is', value: 'Leaves' } }
  t.same((await admin.post('/series/list', { condition: authored })).body.data, [])
})
