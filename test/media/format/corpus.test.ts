// All comics and archives of the corpus have their expected results.
import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import t from 'tap'
import { scoped } from '../../../lib/base/async/dispose.ts'
import { Unreadable } from '../../../lib/base/errors.ts'
import { openBook } from '../../../lib/media/format/formats.ts'
import { openPath } from '../../kit/files/archives.ts'
import { corpusBooks, type Expected } from '../../kit/files/corpus.ts'

type Outcome = {
  pages: number | null
  widths: (number | null)[]
  first: string | null
  series: string[]
  isRecovered: boolean
}

async function read(path: string): Promise<Outcome> {
  try {
    return await scoped(async use => {
      const file = use(openPath(path))
      const book = use(await openBook(file, extname(path).slice(1).toLowerCase()))
      const first = createHash('sha256')
        .update((await book.page(0)).bytes)
        .digest('hex')
      const series = (await book.metadata()).map(({ metadata }) => metadata.series ?? '')
      const widths = book.pages.map(({ width }) => width)
      const isRecovered = book.warnings.length > 0
      return { pages: book.pages.length, widths, first, series, isRecovered }
    })
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { pages: null, widths: [], first: null, series: [], isRecovered: false }
  }
}

function difference(expected: Expected, got: Outcome): string | null {
  const { outcome, pages } = expected
  if (outcome === 'skip') return null
  // Some damaged files that other programs reject are recovered.
  if (outcome === 'fail-clean')
    return got.pages === null || got.isRecovered ? null : `opened with ${got.pages} pages`
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
  const books = corpusBooks(['archive', 'comic'])
  t.ok(books.length >= 69, `${books.length} books`)
  const problems: string[] = []
  for (const { name, path, expected } of books) {
    const problem = difference(expected, await read(path))
    if (problem !== null) problems.push(`${name}: ${problem}`)
  }
  t.same(problems, [])
})
