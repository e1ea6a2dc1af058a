// Bulk changes: the same result for series and books as single changes, unknown and hidden ids skipped,
// limits, events for each item.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { hideSeries } from '../../kit/accounts.ts'
import { doctorFindings } from '../../kit/catalog.ts'
import { comic, createTestLibrary, waitForScan } from '../../kit/library.ts'
import { untilBlocked } from '../../kit/row-locks.ts'
import { startApi } from '../../kit/server.ts'

const info = (series: string) =>
  comic({
    info: `<ComicInfo><Series>${series}</Series><Publisher>Files</Publisher><Genre>Action</Genre><Tags>robots</Tags><Writer>Ana Author</Writer></ComicInfo>`,
  })

test('bulk changes', async t => {
  const all = await startApi(t)
  const library = await createTestLibrary(t, all, {
    'Alpha/1.cbz': info('Alpha'),
    'Alpha/2.cbz': info('Alpha'),
    'Beta/1.cbz': info('Beta'),
    'Hidden/1.cbz': info('Hidden'),
    'Broken/1.cbz': Buffer.from('this is no archive'),
  })
  await library.scan()
  const { sql } = all
  const rows = await sql<{ name: string; id: string }[]>`select name, id from series`
  const ids = Object.fromEntries(rows.map(({ name, id }) => [name, id])) as Record<string, string>
  const books = await library.books()
  const booksOf = (...names: string[]) =>
    books.filter(book => names.includes(book.series)).map(book => book.id)
  const editor = await all.createUser('maintainer')
  const reader = await all.createUser('reader')
  await hideSeries(sql, editor.id, [ids.Hidden!])
  await hideSeries(sql, reader.id, [ids.Hidden!])
  const subjects = [
    {
      path: '/series',
      idsName: 'seriesIds',
      changed: [ids.Alpha!, ids.Beta!],
      hidden: ids.Hidden!,
      max: 100,
      type: 'series_updated',
    },
    {
      path: '/books',
      idsName: 'bookIds',
      changed: booksOf('Alpha', 'Beta'),
      hidden: booksOf('Hidden')[0]!,
      max: 500,
      type: 'book_updated',
    },
  ] as const
  type Subject = (typeof subjects)[number]

  /** A body for the changed items, with ids that are to be skipped. */
  const bodyOf = ({ idsName, changed, hidden }: Subject, values: object = {}) => ({
    [idsName]: [...changed, hidden, newId(), changed[0]],
    ...values,
  })
  const metadataOf = async (subject: Subject) =>
    await Promise.all(
      subject.changed.map(async id => (await editor.get(`${subject.path}/${id}/metadata`)).body),
    )
  /** The number of events of each item since the last call. */
  let last = 0
  const events = async (type: string) => {
    const rows = await sql<{ number: number; ids: string[]; fields: string[] | null }[]>`
      select number::float8 as number, coalesce(book_ids, series_ids) as ids, fields from event
      where number > ${last} and type = ${type} order by number`
    const [newest] = await sql<{ number: number }[]>`
      select coalesce(max(number), 0)::float8 as number from event`
    last = newest!.number
    return rows.flatMap(({ ids, fields }) => ids.map(id => ({ id, fields })))
  }
  /** Every changed item has one event with these fields, and the hidden one none. */
  const checkEvents = async (subject: Subject, fields: string[]) => {
    const found = await events(subject.type)
    for (const id of subject.changed) {
      const own = found.filter(event => event.id === id)
      t.same(own, [{ id, fields }], `${subject.path} ${fields}`)
    }
    t.notOk(found.some(event => event.id === subject.hidden))
  }
  const untouched = async () => [
    ...(await sql`select updated_at, locks from series where id = ${ids.Hidden!}`),
    ...(await sql`select updated_at, locks from book where series_id = ${ids.Hidden!}`),
  ]
  const before = await untouched()

  for (const subject of subjects)
    t.test(subject.path, async t => {
      const { path, changed, idsName, max } = subject
      const single = `${path}/${changed[0]}/metadata`
      await events(subject.type)
      const count = changed.length

      t.test('metadata', async t => {
        await editor.patch(single, { customMetadata: { a: 1 } })
        await events(subject.type)
        const values = {
          ...{ publisher: 'Bulk', customMetadata: { b: 2 }, ageRating: 12 },
          authors: [{ name: 'Bo', role: 'writer', sortName: null }],
        }
        const body = bodyOf(subject, values)
        const response = await editor.patch(`${path}/bulk/metadata`, body)
        t.match(response, { status: 200, body: { updatedCount: count, message: String } })
        for (const [i, metadata] of (await metadataOf(subject)).entries()) {
          t.match(metadata, { publisher: 'Bulk', authors: values.authors, ageRating: 12 })
          t.same(metadata.customMetadata, i === 0 ? { a: 1, b: 2 } : { b: 2 })
          t.match(metadata.locks, { authorsJsonLock: true })
          t.equal(metadata.locks.publisher ?? metadata.locks.publisherLock, true)
        }
        const found = await events(subject.type)
        t.same(found.map(({ id }) => id).sort(), [...changed].sort(), 'one event for each')
        t.match(found[0]!.fields, ['age_rating', 'authors'])
        t.equal((await editor.patch(`${path}/bulk/metadata`, body)).status, 200)
        t.same(await events(subject.type), [], 'the same values are no change')
        await editor.patch(`${path}/bulk/metadata`, bodyOf(subject, { ageRating: null }))
        t.same(
          (await metadataOf(subject)).map(metadata => metadata.ageRating),
          changed.map(() => null),
        )
        const blank = bodyOf(subject, { authors: [{ name: ' ' }] })
        t.equal((await editor.patch(`${path}/bulk/metadata`, blank)).status, 400)
        const byAuthor = await editor.post(`${path}/list`, { fullTextSearch: 'bo' })
        t.equal(byAuthor.body.total, count, 'searches find the new author')
      })

      t.test('locks', async t => {
        await events(subject.type)
        const flags = bodyOf(subject, { publisherLock: false, summaryLock: true })
        const response = await editor.put(`${path}/bulk/metadata/locks`, flags)
        t.match(response, { status: 200, body: { updatedCount: count } })
        await checkEvents(subject, ['locks'])
        for (const { locks } of await metadataOf(subject))
          t.same(
            [locks.publisher ?? locks.publisherLock, locks.summary ?? locks.summaryLock],
            [false, true],
          )
      })

      t.test('genres and tags', async t => {
        await events(subject.type)
        const response = await editor.post(
          `${path}/bulk/genres`,
          bodyOf(subject, { add: ['Drama', 'drama '], remove: ['ACTION'] }),
        )
        t.match(response, { status: 200, body: { updatedCount: count } })
        await checkEvents(subject, ['genres', 'locks'])
        await editor.post(`${path}/bulk/tags`, bodyOf(subject, { add: ['new'] }))
        const namesOf = (labels: { name: string }[]) => labels.map(({ name }) => name)
        for (const { genres, tags } of await metadataOf(subject)) {
          t.same(namesOf(genres), ['Drama'])
          t.same(namesOf(tags), ['new', 'robots'])
        }
        const condition = { genre: { operator: 'is', value: 'drama' } }
        const drama = await editor.post(`${path}/list`, { condition })
        t.equal(drama.body.total, path === '/series' ? 2 : 3)
        const many = Array.from({ length: 500 }, (_, i) => `tag ${i}`)
        const tooMany = await editor.post(`${path}/bulk/tags`, bodyOf(subject, { add: many }))
        t.equal(tooMany.status, 400)
        t.same(namesOf((await metadataOf(subject))[0]!.tags), ['new', 'robots'])
      })

      t.test('reset', async t => {
        await events(subject.type)
        const response = await editor.post(`${path}/bulk/metadata/reset`, bodyOf(subject))
        t.match(response, { status: 200, body: { count } })
        await checkEvents(subject, ['metadata_reset'])
        const scans = await sql<{ id: string }[]>`select id from scan where finished_at is null`
        for (const { id } of scans) await waitForScan(all, id)
        for (const metadata of await metadataOf(subject)) {
          t.match(metadata, { publisher: 'Files', customMetadata: null })
          t.same(
            metadata.genres.map((genre: { name: string }) => genre.name),
            ['Action'],
          )
          t.notOk(Object.values(metadata.locks).includes(true))
        }
      })

      t.test('limits, permissions', async t => {
        const tooMany = { [idsName]: Array.from({ length: max + 1 }, newId) }
        const none = { [idsName]: [newId()] }
        const requests = [
          ['PATCH', 'metadata'],
          ['PUT', 'metadata/locks'],
          ['POST', 'genres'],
          ['POST', 'tags'],
          ['POST', 'metadata/reset'],
          ['POST', 'analyze'],
          ['POST', 'read'],
          ['POST', 'unread'],
        ] as const
        for (const [method, name] of requests) {
          const at = `${path}/bulk/${name}`
          t.equal((await editor.request(method, at, { body: tooMany })).status, 400, at)
          t.equal((await editor.request(method, at, { body: {} })).status, 400, at)
          const skipped = await editor.request(method, at, { body: none })
          t.equal(skipped.status, 200, at)
          const { updatedCount, count, tasksEnqueued } = skipped.body
          t.equal(updatedCount ?? count ?? tasksEnqueued, 0, at)
          const isOwn = name === 'read' || name === 'unread'
          const byReader = await reader.request(method, at, { body: none })
          t.equal(byReader.status, isOwn ? 200 : 403, at)
        }
      })
    })

  t.test('analysis of what could not be read, or of all', async t => {
    const scanOf = async (body: object, path = '/series') => {
      const response = await editor.post(`${path}/bulk/analyze`, body)
      const [id] = response.body.taskIds
      if (id) await waitForScan(all, id)
      return response.body.message
    }
    const seriesIds = Object.values(ids)
    t.equal(await scanOf({ seriesIds }), '1 books to be analyzed')
    t.equal(await scanOf({ seriesIds, force: true }), '4 books to be analyzed')
    const bookIds = booksOf('Alpha', 'Hidden')
    t.equal(await scanOf({ bookIds }, '/books'), 'There are no books to be analyzed')
    t.equal(await scanOf({ bookIds, force: true }, '/books'), '2 books to be analyzed')
  })

  t.test('read and unread, of the caller', async t => {
    const status = async () => {
      const { data } = (await reader.get('/series?sort=name')).body
      return data.map((s: { readCount: number }) => s.readCount)
    }
    const seriesIds = [ids.Alpha, ids.Hidden, newId()]
    t.match((await reader.post('/series/bulk/read', { seriesIds })).body, { count: 2 })
    t.same(await status(), [2, 0, 0])
    t.match((await reader.post('/series/bulk/read', { seriesIds })).body, { count: 0 })
    const bookIds = [...booksOf('Alpha', 'Hidden').slice(1), ...booksOf('Beta'), newId()]
    t.match((await reader.post('/books/bulk/unread', { bookIds })).body, { count: 1 })
    t.match((await reader.post('/books/bulk/read', { bookIds })).body, { count: 2 })
    t.same(await status(), [2, 1, 0])
    await reader.post('/series/bulk/unread', { seriesIds: [ids.Alpha, ids.Beta] })
    t.same(await status(), [0, 0, 0])
    const hidden = await sql`
      select 1 from progress p join book b on b.id = p.book_id where b.series_id = ${ids.Hidden!}`
    t.equal(hidden.length, 0)
  })

  t.test('hidden ones were not touched, the doctor finds nothing', async t => {
    t.same(await untouched(), before)
    t.same(await doctorFindings(all), [])
  })
})

test('a book that moves to another series meanwhile is changed', async t => {
  const all = await startApi(t)
  const { sql } = all
  const library = await createTestLibrary(t, all, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
  await library.scan()
  const [one, two] = await library.books()
  const editor = await all.createUser('maintainer')
  const holder = await sql.reserve()
  await holder`begin`
  await holder`update book set series_id = ${two!.seriesId} where id = ${one!.id}`
  const changing = editor.patch('/books/bulk/metadata', {
    bookIds: [one!.id],
    publisher: 'Ink',
  })
  await untilBlocked(sql)
  await holder`commit`
  holder.release()
  t.match(await changing, { status: 200, body: { updatedCount: 1 } })
  t.match(await editor.get(`/books/${one!.id}/metadata`), { body: { publisher: 'Ink' } })
})
