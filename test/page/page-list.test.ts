import { deepStrictEqual as same } from 'node:assert/strict'
import fc, { type Arbitrary } from 'fast-check'
import t from 'tap'
import type { EntryLocation } from '../../lib/media/archive/container.ts'
import { packPages, unpackPages } from '../../lib/page/page-list.ts'

const page = (name: string, width: number | null, height: number | null) => ({
  name,
  mediaType: name.endsWith('.png') ? 'image/png' : 'image/jpeg',
  bytes: 1000,
  width,
  height,
  location: null,
})

t.test('unpacking returns the packed pages in order', async t => {
  const pages = [
    page('a/1.jpg', 800, 1200),
    page('a/2.png', null, null),
    page('a/10.jpg', 1600, 1200),
  ]
  const unpacked = unpackPages(packPages(pages))
  t.match(unpacked, pages)
  t.same(
    unpacked.map(page => page.isDouble),
    [false, false, true],
    'a page wider than high is double',
  )
})

t.test('ComicInfo sets the type of a page and marks a narrow one as double', async t => {
  const notes = [
    { image: 0, type: 'FrontCover', double: false, bookmark: null },
    { image: 1, type: null, double: true, bookmark: null },
    { image: 99, type: 'Story', double: true, bookmark: null },
  ]
  const unpacked = unpackPages(packPages([page('1.jpg', 8, 12), page('2.jpg', 8, 12)], { notes }))
  t.equal(unpacked[0]!.type, 'FrontCover')
  t.equal(unpacked[1]!.isDouble, true)
  t.equal(unpacked.length, 2, 'a note on a page that does not exist is ignored')
})

t.test('the list of a long book is compressed, that of a short one is stored', async t => {
  const pages = Array.from({ length: 200 }, (_, i) => page(`page-${i}.jpg`, 800, 1200))
  for (const length of [5, 200]) {
    const packed = packPages(pages.slice(0, length))
    t.match(unpackPages(packed), pages.slice(0, length))
    t.equal(packed.length < 10 * length, length === 200, `${packed.length} bytes`)
  }
})

t.test('pages have their locations in the file, in any order', async () => {
  const location: Arbitrary<EntryLocation> = fc.oneof(
    fc.record(
      {
        offset: fc.nat(),
        headerBytes: fc.nat(100),
        packedBytes: fc.nat(),
        method: fc.constantFrom(0, 8),
        crc: fc.oneof(fc.nat(0xffffffff), fc.constantFrom(null, 'header')),
      },
      { noNullPrototype: true },
    ),
    fc.constantFrom(null, 'solid'),
  )
  fc.assert(
    fc.property(fc.array(location), locations => {
      const pages = locations.map((location, i) => ({ ...page(`${i}.jpg`, 8, 12), location }))
      const isSolid = locations.includes('solid')
      const unpacked = unpackPages(packPages(pages)).map(page => page.location)
      same(
        unpacked,
        locations.map(location => location ?? (isSolid ? 'solid' : null)),
      )
    }),
  )
})

t.test('a book without pages has an empty list', async t => {
  t.same(unpackPages(packPages([])), [])
})
