// PDFs with damaged page trees or without their first line: all pages are found and rendered.
import t from 'tap'
import { scoped } from '../../../../lib/base/async/dispose.ts'
import { openBook } from '../../../../lib/media/format/formats.ts'
import { openBytes } from '../../../kit/files/archives.ts'
import { pdfOf, stream } from '../../../kit/files/pdf.ts'

const count = 8
const first = 4
const all = Array.from({ length: count }, (_, i) => `${first + i} 0 R`).join(' ')
/** Object numbers of nodes after the pages. */
const [extra, extra2] = [first + count, first + count + 1]

type Tree = {
  kids: string
  stated?: number
  root?: string
  catalog?: string
  page?: string
  nodes?: string[]
}

function pdfWith({ kids, stated = count, root = '', catalog, page, nodes = [] }: Tree): Buffer {
  const inherited = '/MediaBox[0 0 90 120]'
  return pdfOf([
    catalog ?? '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${stated}/Kids[${kids}]${page ? '' : inherited}${root}>>`,
    stream('', '0 0 50 50 re f'),
    ...Array.from({ length: count }, () =>
      (page ?? '<</Type/Page/Parent 2 0 R/Contents 3 0 R>>').replace('BOX', inherited),
    ),
    ...nodes,
  ])
}

const node = (kids: string) => `<</Type/Pages/Count 2/Parent 2 0 R/Kids[${kids}]>>`
const trees: Record<string, Tree> = {
  sound: { kids: all },
  'a root that lists itself last': { kids: `${all} 2 0 R` },
  'a root that lists itself first': { kids: `2 0 R ${all}`, stated: count + 1 },
  'only loops': { kids: '2 0 R', page: '<</Type/Page/Parent 2 0 R/Contents 3 0 R BOX>>' },
  'a child that lists its parent': { kids: `${extra} 0 R ${all}`, nodes: [node('2 0 R')] },
  'two nodes that list each other': {
    kids: `${extra} 0 R ${all}`,
    stated: count + 1,
    nodes: [node(`${extra2} 0 R`), node(`${extra} 0 R`)],
  },
  'a root that is its own parent': { kids: all, root: '/Parent 2 0 R' },
  'a page that is its own parent': {
    kids: all,
    page: `<</Type/Page/Parent ${first} 0 R/Contents 3 0 R BOX>>`,
  },
  'a count that is too high': { kids: all, stated: 500 },
  'a count that is negative': { kids: all, stated: -1 },
  'kids that do not exist': {
    kids: '99 0 R',
    page: '<</Type/Page/Parent 2 0 R/Contents 3 0 R BOX>>',
  },
  'a catalog without pages': {
    kids: all,
    catalog: '<</Type/Catalog>>',
    page: '<</Type/Page/Parent 2 0 R/Contents 3 0 R BOX>>',
  },
}

/** The number of rendered pages of their size, and whether there is a warning. */
function read(t: { testdir(): string }, bytes: Buffer) {
  return scoped(async use => {
    const { pages, imageCount, warnings, page } = use(
      await openBook(use(openBytes(t.testdir(), bytes)), 'pdf'),
    )
    const sizes = new Set(pages.map(({ width, height }) => `${width}x${height}`))
    let rendered = 0
    for (let i = 0; i < imageCount; i += 1) rendered += (await page(i)).bytes.length > 0 ? 1 : 0
    return { pages: imageCount, rendered, sizes: [...sizes], isWarned: warnings.length > 0 }
  })
}

t.test('loops and gaps in the page tree', async t => {
  for (const [what, tree] of Object.entries(trees)) {
    const found = await read(t, pdfWith(tree))
    const expected = { pages: count, rendered: count, sizes: ['188x250'] }
    t.same(found, { ...expected, isWarned: what !== 'sound' }, what)
  }
})

t.test('files without their first line', async t => {
  const sound = pdfWith({ kids: all })
  const line = sound.indexOf('\n') + 1
  const starts: Record<string, Buffer> = {
    missing: Buffer.alloc(0),
    changed: Buffer.from('%XYZ-1.7\n'),
    zeroed: Buffer.alloc(line),
    late: Buffer.concat([Buffer.alloc(3000, 'junk '), sound.subarray(0, line)]),
    'a page of text': Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n'),
  }
  for (const [what, start] of Object.entries(starts)) {
    const { pages, rendered } = await read(t, Buffer.concat([start, sound.subarray(line)]))
    t.same([pages, rendered], [count, count], what)
  }
})
