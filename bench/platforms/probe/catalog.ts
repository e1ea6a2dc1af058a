// Checks of the REST API: lists, pages, covers, files, events, progress.
import { type Checks, expectEqual, expectTrue } from './checks.ts'
import { type Client, poll } from './client.ts'
import { listenTo } from './events.ts'
import { expected } from './expected.ts'

export type Book = { id: string; seriesId: string; title: string; pageCount: number }

const api = '/api/v1'

/** Waits until the library is scanned and no task is left; returns its books by title. */
export async function scannedBooks(client: Client): Promise<Book[]> {
  return await poll(60, async () => {
    const tasks = await client.json(`${api}/tasks?pageSize=500`)
    const open = tasks.data.filter((task: { status: string }) =>
      ['pending', 'running'].includes(task.status),
    )
    const { data } = await client.json(`${api}/books?sort=title,asc&pageSize=100`)
    return open.length === 0 && data.length >= expected.books ? (data as Book[]) : null
  })
}

export async function checkLists({ check }: Checks, client: Client): Promise<void> {
  await check('list of books', async () => {
    const { total } = await client.json(`${api}/books`)
    expectEqual(total, expected.books, 'total')
    const { data } = await client.json(`${api}/books?sort=title,desc&pageSize=100`)
    const titles: string[] = data.map(({ title }: Book) => title)
    expectEqual(titles.length, expected.books, 'number of books')
    expectTrue(titles.indexOf('Walden') < titles.indexOf('Saga, part 1'), 'not sorted by title')
  })
  await check('list of series', async () => {
    expectEqual((await client.json(`${api}/series`)).total, expected.series, 'total')
  })
  await check('condition', async () => {
    const condition = { title: { operator: 'contains', value: 'saga' } }
    const { total } = await client.json(`${api}/books/list`, { body: { condition } })
    expectEqual(total, expected.titledSaga, 'total')
  })
  await check('full-text search', async () => {
    const { data } = await client.json(`${api}/books/list`, { body: { fullTextSearch: 'walden' } })
    expectEqual(
      data.map(({ title }: Book) => title),
      ['Walden'],
      'result',
    )
  })
  await check('no book has an error', async () => {
    const { data } = await client.json(`${api}/books?pageSize=100`)
    const failed = data.filter(
      (book: { analysisErrors?: unknown[] }) => book.analysisErrors?.length,
    )
    expectEqual(failed, [], 'list of errors')
    expectTrue(
      data.every(({ pageCount }: Book) => pageCount > 0),
      'a book has no pages',
    )
  })
}

export async function checkImages({ check }: Checks, client: Client, books: readonly Book[]) {
  const isImage = ({ bytes, type }: { bytes: Buffer; type: string }) =>
    type.startsWith('image/') && bytes.length > 50
  for (const { id, title, pageCount } of books) {
    if (title === 'Walden') continue
    await check(`pages of ${title}`, async () => {
      for (let page = 1; page <= pageCount; page++)
        expectTrue(
          isImage(await client.send(`${api}/books/${id}/pages/${page}`)),
          `no page ${page}`,
        )
    })
    await check(`resized pages of ${title}`, async () => {
      for (let page = 1; page <= pageCount; page++) {
        const path = `${api}/books/${id}/pages/${page}?width=100&format=webp`
        const { bytes, type } = await client.send(path)
        expectEqual(type, 'image/webp', 'type')
        expectEqual(bytes.toString('latin1', 8, 12), 'WEBP', 'signature')
      }
    })
    await check(`cover of ${title}`, async () => {
      expectTrue(isImage(await client.send(`${api}/books/${id}/thumbnail`)), 'no image')
    })
  }
  await check('part of a file', async () => {
    const options = { headers: { range: 'bytes=0-3' }, status: 206 }
    const { bytes } = await client.send(`${api}/books/${books[0]!.id}/file`, options)
    expectEqual(bytes.length, 4, 'length')
  })
}

export async function checkEvents({ check }: Checks, client: Client, books: readonly Book[]) {
  await check('events of the catalog', async () => {
    const stream = await listenTo(client, `${api}/events/stream`)
    try {
      const body = { summary: `Written at ${Date.now()}` }
      await client.send(`${api}/books/${books[0]!.id}/metadata`, { method: 'PATCH', body })
      await stream.next(new RegExp(`event: book_updated[^]*${books[0]!.id}`))
    } finally {
      await stream.close()
    }
  })
  await check('events of scans and tasks', async () => {
    const streams = [
      await listenTo(client, `${api}/scans/stream`),
      await listenTo(client, `${api}/tasks/stream`),
    ]
    try {
      const { data } = await client.json(`${api}/libraries`)
      const [library] = data as { id: string }[]
      const path = `${api}/libraries/${library!.id}/scan?mode=deep`
      await client.send(path, { method: 'POST' })
      for (const stream of streams) await stream.next(/^data: .*completed/m)
    } finally {
      for (const stream of streams) await stream.close()
    }
  })
}

export async function checkProgress({ check }: Checks, client: Client, books: readonly Book[]) {
  await check('reading progress', async () => {
    const path = `${api}/books/${books.find(book => book.pageCount === 4)!.id}/progress`
    await client.send(path, { method: 'PUT', body: { currentPage: 3 } })
    expectEqual((await client.json(path)).currentPage, 3, 'page')
  })
}

export async function checkSystem({ check }: Checks, client: Client): Promise<void> {
  await check('health', async () => {
    expectEqual((await client.json(`${api}/health`)).status, 'ok', 'status')
  })
  await check('metrics', async () => {
    expectTrue((await client.text('/metrics')).includes('\n# TYPE '), 'no metrics')
  })
  await check('web application', async () => {
    const document = await client.text('/', { headers: { accept: 'text/html' } })
    const [, script] = /<script[^>]+src="([^"]+)"/.exec(document) ?? []
    expectTrue(script !== undefined, 'the document has no script')
    const { type } = await client.send(new URL(script!, `${client.base}/`).pathname)
    expectTrue(/javascript/.test(type), `the script has the type ${type}`)
  })
}
