import t from 'tap'
import { firstCover } from '../../../kit/files/covers.ts'
import { epubBytes, item, openEpub, type Parts, pngHeader } from '../../../kit/files/epub.ts'

const xhtml = 'application/xhtml+xml'
const shows = (src: string) => `<html><body><p>x</p><img src="${src}"/></body></html>`
const images = {
  manifest: item('one', 'one.png', 'image/png') + item('two', 'two.png', 'image/png'),
  files: { 'OPS/one.png': pngHeader(1, 1), 'OPS/two.png': pngHeader(2, 2) },
}

/** The width of the cover that was chosen. */
async function widthOf(folder: string, parts: Parts): Promise<number | null> {
  const cover = await firstCover(await openEpub(folder, epubBytes(parts)))
  return cover && Buffer.from(cover).readUInt32BE(16)
}

t.test('the cover is found by all conventions, in order of precedence', async t => {
  const { files } = images
  const width = (parts: Parts) => widthOf(t.testdir(), { ...images, ...parts })
  const third = item('c', 'c.png', 'image/png', 'x cover-image')
  const withThird = { ...files, 'OPS/c.png': pngHeader(3, 3) }
  const byId = '<meta name="cover" content="two"/>'
  t.equal(await width({ metadata: byId, manifest: images.manifest + third, files: withThird }), 3)
  t.equal(await width({ metadata: byId }), 2, 'meta by id')
  t.equal(await width({ metadata: '<meta name="cover" content="two.png"/>' }), 2, 'meta by href')
  t.equal(
    await width({ guide: '<reference type="cover" href="two.png"/>' }),
    2,
    'guide to an image',
  )
  const guide = '<reference type="cover" href="c.xhtml"/>'
  const page = { ...files, 'OPS/c.xhtml': shows('two.png') }
  t.equal(await width({ guide, files: page }), 2, 'guide to a page')
  const named = item('my-cover', 'z.png', 'image/png')
  const z = { ...files, 'OPS/z.png': pngHeader(4, 4) }
  t.equal(await width({ manifest: images.manifest + named, files: z }), 4, 'an id with cover')
  const manifest = images.manifest + item('p', 'p.xhtml', xhtml)
  const shown = { ...files, 'OPS/p.xhtml': shows('two.png') }
  t.equal(await width({ manifest, spine: '<itemref idref="p"/>', files: shown }), 2, 'first page')
  t.equal(await width({}), 1, 'first image')
})

t.test('a candidate that is missing, remote or not an image is skipped', async t => {
  const width = (href: string, content: string | Uint8Array = '') =>
    widthOf(t.testdir(), {
      manifest: item('bad', href, 'image/png', 'cover-image') + images.manifest,
      files: { ...images.files, 'OPS/bad.png': content },
    })
  t.equal(await width('gone.png'), 1)
  t.equal(await width('http://127.0.0.1:9/cover.png'), 1)
  t.equal(await width('bad.png', 'text'), 1)
  t.equal(await width('bad.png', ''), 1)
})

t.test('an SVG cover yields the image it references, else the SVG', async t => {
  const svg = (inner: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`
  const cover = async (inner: string) => {
    const manifest = item('c', 'c.svg', 'image/svg+xml', 'cover-image') + images.manifest
    const files = { ...images.files, 'OPS/c.svg': svg(inner) }
    return firstCover(await openEpub(t.testdir(), epubBytes({ manifest, files })))
  }
  t.same(await cover('<image xlink:href="two.png"/>'), new Uint8Array(pngHeader(2, 2)))
  t.same(Buffer.from((await cover('<rect/>'))!).toString(), svg('<rect/>'))
})
