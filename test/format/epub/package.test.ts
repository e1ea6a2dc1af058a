import t from 'tap'
import { epubBytes, item, openEpub, zip } from './epub-files.ts'

const opf = (title: string) => `<package><metadata><title>${title}</title></metadata></package>`
const container = (...paths: string[]) =>
  `<container><rootfiles>${paths.map(path => `<rootfile full-path="${path}"/>`).join('')}</rootfiles></container>`

const titleOf = async (folder: string, files: Record<string, string>) => {
  const book = await openEpub(folder, zip(files))
  const [reading] = await book.metadata()
  return [reading?.metadata.title, ...book.warnings]
}

t.test('the first package that is there and readable counts', async t => {
  const two = { 'META-INF/container.xml': container('gone.opf', 'a.opf', 'b.opf') }
  t.same(await titleOf(t.testdir(), { ...two, 'b.opf': opf('B'), 'a.opf': opf('A') }), ['A'])
  t.same(await titleOf(t.testdir(), { ...two, 'a.opf': 'no xml', 'b.opf': opf('B') }), ['B'])
})

t.test('without a container the package nearest to the root is found by its extension', async t => {
  t.match(await titleOf(t.testdir(), { 'a/b/deep.opf': opf('Deep'), 'x/near.OPF': opf('Near') }), [
    'Near',
    /names no package/,
  ])
})

t.test('an archive without a package is no EPUB', async t => {
  await t.rejects(openEpub(t.testdir(), zip({ 'a.txt': 'a' })), { code: 'unsupported_format' })
  await t.rejects(openEpub(t.testdir(), zip({ 'a.opf': '' })), { code: 'unsupported_format' })
  await t.rejects(openEpub(t.testdir(), Buffer.from('<html>')), { code: 'not_an_archive' })
})

t.test('a package without spine and resources still opens', async t => {
  const book = await openEpub(t.testdir(), epubBytes({ metadata: '<title>T</title>' }))
  t.same([book.pageCount, book.pages, await book.cover()], [0, [], null])
})

t.test('an item repeated in the spine counts each time', async t => {
  const book = await openEpub(
    t.testdir(),
    epubBytes({
      manifest: item('a', 'a.xhtml', 'application/xhtml+xml'),
      spine: '<itemref idref="a"/><itemref idref="a"/>',
      files: { 'OPS/a.xhtml': 'a' },
    }),
  )
  t.equal(book.pageCount, 2)
})
