// Text of books over HTTP: words of PDF pages, searches, tables of contents.
import { test } from 'tap'
import { hideSeries } from '../../kit/accounts.ts'
import { textPdf } from '../../kit/files/pdf.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'
import { webBooks } from '../../kit/web/books.ts'

test('text of books', async t => {
  const all = await startApi(t)
  const pages = Array.from({ length: 12 }, (_, i) => ({
    lines: [[`The lighthouse on page ${i + 1}`, 40, 500]] as [[string, number, number]],
  }))
  const library = await createTestLibrary(t, all, {
    'Guide/guide.pdf': textPdf(pages, [{ title: 'Lights', page: 2 }]),
    'Comic/1.cbz': comic({ pages: 2 }),
    'Mill/mill.epub': await webBooks.novel.bytes(),
  })
  await library.scan()
  const rows = await library.books()
  const idOf = (folder: string) => rows.find(row => row.folder === folder)!.id
  const [guide, strip, mill] = ['Guide', 'Comic', 'Mill'].map(idOf) as [string, string, string]
  const reader = await all.createUser('reader')

  await t.test('a page of a PDF has words with boxes, and an ETag', async t => {
    const { status, body, headers } = await reader.get(`/books/${guide}/pages/3/text`)
    t.equal(status, 200)
    t.same(
      body.lines.map(({ words }: any) => words.map(({ text }: any) => text).join(' ')),
      ['The lighthouse on page 3'],
    )
    const { x, y, width, height } = body.lines[0].words[0]
    t.ok([x, y, width, height].every(value => value > 0 && value < 1))
    const again = { headers: { 'if-none-match': headers.get('etag')! } }
    t.equal((await reader.get(`/books/${guide}/pages/3/text`, again)).status, 304)
    library.remove('Guide/guide.pdf')
    t.same((await reader.get(`/books/${guide}/pages/3/text`)).body, body, 'from the cache')
    library.write('Guide/guide.pdf', textPdf(pages, [{ title: 'Lights', page: 2 }]))
    t.equal((await reader.get(`/books/${guide}/pages/13/text`)).status, 404)
  })

  await t.test('a search goes through the pages', async t => {
    const search = async (query: string) => (await reader.get(`/books/${guide}/text?${query}`)).body
    const { matches, nextPage } = await search('query=LIGHTHOUSE%20on')
    t.equal(nextPage, null)
    t.same(
      matches.map(({ pageNumber }: any) => pageNumber),
      Array.from({ length: 12 }, (_, i) => i + 1),
    )
    t.match(matches[0], { before: 'The ', text: 'lighthouse on', after: ' page 1 ' })
    t.equal(matches[0].boxes.length, 1)
    t.equal((await search('query=lighthouse&page=11')).matches.length, 2)
    t.same(await search('query=lighthouse&page=99'), { matches: [], nextPage: null })
    for (const query of ['', 'query=', 'query=%20', `query=${'x'.repeat(201)}`, 'query=a&page=0'])
      t.equal((await reader.get(`/books/${guide}/text?${query}`)).status, 400, query)
  })

  await t.test('contents are those of the PDF or the EPUB', async t => {
    const contents = async (id: string) => (await reader.get(`/books/${id}/contents`)).body.data
    t.same(await contents(guide), [{ title: 'Lights', depth: 0, pageNumber: 2, href: null }])
    t.match(await contents(mill), [
      { title: 'Water', depth: 0, pageNumber: null, href: 'OPS/chapter1.xhtml' },
      ...['Stone', 'Flour', 'Bread'].map(title => ({ title })),
    ])
    t.same(await contents(strip), [])
  })

  await t.test('pages of images have no text', async t => {
    for (const id of [strip, mill])
      for (const path of ['pages/1/text', 'text?query=a']) {
        const { status, body } = await reader.get(`/books/${id}/${path}`)
        t.same(
          [status, body.message],
          [404, 'The pages of the book are images: only a PDF has text'],
        )
      }
  })

  await t.test('a hidden book is not found', async t => {
    const { id, ...other } = await all.createUser('reader')
    await hideSeries(all.sql, id, [rows.find(row => row.id === guide)!.seriesId])
    for (const path of ['pages/1/text', 'text?query=light', 'contents'])
      t.equal((await other.get(`/books/${guide}/${path}`)).status, 404, path)
  })
})
