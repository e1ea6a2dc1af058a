import t from 'tap'
import { openFile } from '../../../../lib/base/file.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { epubReader } from '../../../../lib/media/format/epub/epub.ts'
import { epubBytes, item, openEpub, pngHeader } from '../../../kit/files/epub.ts'
import { use } from '../../../kit/use.ts'

const fixed = '<meta property="rendition:layout">pre-paginated</meta>'

t.test('duplicate resources are one image, missing ones are skipped', async t => {
  const manifest =
    item('a', 'a.png', 'image/jpg') +
    item('b', './a.png', 'image/png') +
    item('c', 'gone.png', 'image/png')
  const book = await openEpub(
    t.testdir(),
    epubBytes({ manifest, files: { 'OPS/a.png': pngHeader(1, 1) } }),
  )
  t.match(book.pages, [{ name: 'OPS/a.png', mediaType: 'image/jpeg' }])
  t.equal(book.pages.length, 1)
})

t.test('images in the spine are pages, and unreferenced images come last', async t => {
  const book = await openEpub(
    t.testdir(),
    epubBytes({
      metadata: fixed,
      manifest:
        item('rest', 'rest.png', 'image/png') +
        item('spine', 'spine.png', 'image/png') +
        item('svg', 'page.svg', 'image/svg+xml') +
        item('inner', 'inner.png', 'image/png') +
        item('broken', 'broken.png', 'image/png'),
      spine: '<itemref idref="spine"/><itemref idref="svg"/>',
      files: {
        'OPS/rest.png': pngHeader(1, 1),
        'OPS/spine.png': pngHeader(2, 2),
        'OPS/page.svg': '<svg width="5" height="6"><image href="inner.png"/></svg>',
        'OPS/inner.png': pngHeader(3, 3),
        'OPS/broken.png': 'text',
      },
    }),
  )
  t.same(
    book.pages.map(({ name, width }) => [name, width]),
    [
      ['OPS/spine.png', 2],
      ['OPS/page.svg', 5],
      ['OPS/inner.png', 3],
      ['OPS/rest.png', 1],
      ['OPS/broken.png', null],
    ],
  )
})

t.test('opening a large reflowable book reads only a few kilobytes', async t => {
  const picture = Buffer.concat([pngHeader(1, 1), Buffer.alloc(100_000)])
  const names = Array.from({ length: 50 }, (_, i) => `${i}.png`)
  const manifest = names.map(name => item(name, name, 'image/png')).join('')
  const files = Object.fromEntries(names.map(name => [`OPS/${name}`, picture]))
  const bytes = epubBytes({ manifest, files })
  const folder = t.testdir({ 'book.epub': bytes })
  const file = use(t, openFile(Buffer.from(`${folder}/book.epub`)))
  const book = await epubReader.open(file, defaultLimits)
  t.equal(book.pages.length, 50)
  t.ok(file.bytesRead < 200_000, `${file.bytesRead} of ${bytes.length} bytes were read`)
})
