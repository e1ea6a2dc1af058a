// Every comic and archive of the corpus ends as its expectation says.
import { createHash } from 'node:crypto'
import { extname, join } from 'node:path'
import t from 'tap'
import { Unreadable } from '../../lib/errors.ts'
import { openBook } from '../../lib/format/formats.ts'
import { corpus, type Expected, expectations, open } from '../archive/archive-files.ts'

type Outcome = {
  pages: number | null
  widths: (number | null)[]
  first: string | null
  series: string[]
}

async function read(path: string): Promise<Outcome> {
  using file = open(path)
  try {
    await using book = await openBook(file, extname(path).slice(1).toLowerCase())
    const first = createHash('sha256')
      .update((await book.page(0)).bytes)
      .digest('hex')
    const series = (await book.metadata()).map(({ metadata }) => metadata.series ?? '')
    return { pages: book.pages.length, widths: book.pages.map(({ width }) => width), first, series }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { pages: null, widths: [], first: null, series: [] }
  }
}

function complaint({ expected }: Expected, got: Outcome): string | null {
  const { outcome, pages } = expected
  if (outcome === 'skip') return null
  if (outcome === 'fail-clean') return got.pages === null ? null : `opened with ${got.pages} pages`
  if (outcome === 'either') {
    const [min, max] =
      typeof pages === 'number' ? [pages, pages] : [pages?.min ?? 0, pages?.max ?? 1e9]
    return got.pages === null || (got.pages >= min && got.pages <= max)
      ? null
      : `${got.pages} pages`
  }
  if (got.pages !== pages) return `${got.pages} pages for ${pages}`
  if (expected.firstPageSha256 !== undefined && got.first !== expected.firstPageSha256)
    return 'another first page'
  if (expected.widths !== undefined && `${got.widths}` !== `${expected.widths}`)
    return `widths ${got.widths}`
  return null
}

t.test('every archive opens or fails as expected', async t => {
  const rows = expectations(['archive', 'comic'])
  t.ok(rows.length > 300)
  const wrong: string[] = []
  for (const row of rows) {
    const found = complaint(row, await read(join(corpus, row.path)))
    if (found !== null) wrong.push(`${row.path}: ${found}`)
  }
  t.same(wrong, [])
})
