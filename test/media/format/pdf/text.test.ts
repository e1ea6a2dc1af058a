// Words of PDF pages, searches and outlines: of generated files with known places, and of the whole corpus.
import t, { type Test } from 'tap'
import { Unreadable } from '../../../../lib/base/errors.ts'
import { openFile } from '../../../../lib/base/file.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { readOutline } from '../../../../lib/media/format/pdf/outline.ts'
import { readPageText, searchText } from '../../../../lib/media/format/pdf/text.ts'
import { corpusBooks } from '../../../kit/files/corpus.ts'
import { folderWithFiles } from '../../../kit/files/folders.ts'
import { type TextLine, textPdf } from '../../../kit/files/pdf.ts'
import { use } from '../../../kit/use.ts'

const open = (t: Test, bytes: Buffer) =>
  use(t, openFile(Buffer.from(`${folderWithFiles(t, { 'book.pdf': bytes })}/book.pdf`)))
const textOf = async (t: Test, bytes: Buffer, index = 0) => {
  const page = await readPageText(open(t, bytes), defaultLimits, index)
  return page?.lines.map(({ words }) => words.map(({ text }) => text).join(' '))
}
const search = async (t: Test, bytes: Buffer, query: string, from = 0) =>
  searchText(open(t, bytes), defaultLimits, { query, from, tick() {} })

t.test('words are where they are painted', async t => {
  const bytes = textPdf([
    {
      lines: [
        ['Once upon', 42, 535.5],
        ['a time', 42, 59.5],
      ],
    },
  ])
  t.same(await textOf(t, bytes), ['Once upon', 'a time'])
  const page = await readPageText(open(t, bytes), defaultLimits, 0)
  const [once] = page!.lines[0]!.words
  // 42 of 420 points from the left; the base line at a tenth of the height.
  t.ok(Math.abs(once!.x - 0.1) < 0.01, String(once!.x))
  t.ok(once!.y < 0.1 && once!.y + once!.height > 0.1, JSON.stringify(once))
  t.ok(once!.width > 0.1 && once!.width < 0.15, String(once!.width))
  const rotated = textPdf([{ lines: [['Sideways', 42, 535.5]], rotate: 90 }])
  const [word] = (await readPageText(open(t, rotated), defaultLimits, 0))!.lines[0]!.words
  t.ok(word!.x > 0.85 && word!.height > word!.width, JSON.stringify(word))
  t.equal(await textOf(t, bytes, 1), undefined, 'there is no second page')
  t.same(
    await textOf(
      t,
      textPdf([
        {
          lines: [
            ['Unseen', 900, 900],
            ['Seen', 9, 9],
          ],
        },
      ]),
    ),
    ['Seen'],
  )
})

t.test('a search ignores case, accents and the ends of lines', async t => {
  const bytes = textPdf([
    {
      lines: [
        ['The caf\\351 stood on the har-', 40, 500],
        ['bor. A Cafe again', 40, 470],
      ],
    },
    { lines: [['Nothing here', 40, 500]] },
    { lines: [['A last CAF\\311', 40, 500]] },
  ])
  const { matches, next } = await search(t, bytes, 'cafe')
  t.same(
    matches.map(({ index, text }) => [index, text]),
    [
      [0, 'café'],
      [0, 'Cafe'],
      [2, 'CAFÉ'],
    ],
  )
  t.equal(next, null)
  t.match(matches[0], { before: 'The ', after: ' stood on the har-bor. A Cafe again ' })
  const [harbor] = (await search(t, bytes, 'the  Harbor')).matches
  t.equal(harbor!.boxes.length, 2, 'a box for each line')
  t.same((await search(t, bytes, 'cafe', 1)).matches.length, 1)
  t.same((await search(t, bytes, 'missing')).matches, [])
  t.same((await search(t, bytes, '  ')).matches, [])
})

t.test('a search stops after many matches and goes on', async t => {
  const lines = Array.from({ length: 20 }, (_, i): TextLine => ['x x x', 40, 550 - i * 25])
  const bytes = textPdf(Array.from({ length: 5 }, () => ({ lines })))
  const { matches, next } = await search(t, bytes, 'x')
  t.equal(next, 2)
  t.equal(matches.length, 120)
  t.equal((await search(t, bytes, 'x', 4)).next, null)
  const many = textPdf([{ lines: [['x '.repeat(2_000), 40, 500]] }])
  t.equal((await search(t, many, 'x')).matches.length <= 500, true, 'a page has not all')
})

t.test('the outline is a list with depths and pages', async t => {
  const pages = [1, 2, 3].map(n => ({ lines: [[`Page ${n}`, 40, 500] as TextLine] }))
  const bytes = textPdf(pages, [
    { title: 'First', page: 1, children: [{ title: 'Inner', page: 2 }] },
    { title: 'Second', page: 3 },
  ])
  t.same(await readOutline(open(t, bytes), defaultLimits), [
    { title: 'First', depth: 0, index: 0 },
    { title: 'Inner', depth: 1, index: 1 },
    { title: 'Second', depth: 0, index: 2 },
  ])
  t.same(await readOutline(open(t, textPdf(pages)), defaultLimits), [])
})

t.test('every PDF of the corpus has words within the page, or is unreadable', async t => {
  for (const { name, path } of corpusBooks(['pdf'])) {
    const file = use(t, openFile(Buffer.from(path)))
    try {
      const page = await readPageText(file, defaultLimits, 0)
      const words = page!.lines.flatMap(({ words }) => words)
      const isNear = words.every(({ x, y }) => x >= -1 && x <= 2 && y >= -1 && y <= 2)
      t.ok(isNear && words.every(({ text }) => text.isWellFormed() && !/\s/.test(text)), name)
      await readOutline(file, defaultLimits)
    } catch (error) {
      t.ok(error instanceof Unreadable, `${name}: ${error}`)
    }
  }
})
