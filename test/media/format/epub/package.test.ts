import t from 'tap'
import { zipOfFiles } from '../../../kit/files/archives.ts'
import { firstCover } from '../../../kit/files/covers.ts'
import { epubBytes, item, openEpub } from '../../../kit/files/epub.ts'

const opf = (title: string) => `<package><metadata><title>${title}</title></metadata></package>`
const container = (...paths: string[]) =>
  `<container><rootfiles>${paths.map(path => `<rootfile full-path="${path}"/>`).join('')}</rootfiles></container>`

const titleOf = async (folder: string, files: Record<string, string>) => {
  const book = await openEpub(folder, zipOfFiles(files))
  const [reading] = await book.metadata()
  return [reading?.metadata.title, ...book.warnings]
}

t.test('the first readable package is used', async t => {
  const two = { 'META-INF/container.xml': container('gone.opf', 'a.opf', 'b.opf') }
  t.same(await titleOf(t.testdir(), { ...two, 'b.opf': opf('B'), 'a.opf': opf('A') }), ['A'])
  t.same(await titleOf(t.testdir(), { ...two, 'a.opf': 'no xml', 'b.opf': opf('B') }), ['B'])
})

t.test('without container.xml the package nearest to the root is used', async t => {
  t.match(await titleOf(t.testdir(), { 'a/b/deep.opf': opf('Deep'), 'x/near.OPF': opf('Near') }), [
    'Near',
    /names no package/,
  ])
})

t.test('an archive without a package is rejected', async t => {
  await t.rejects(openEpub(t.testdir(), zipOfFiles({ 'a.txt': 'a' })), {
    code: 'unsupported_format',
  })
  await t.rejects(openEpub(t.testdir(), zipOfFiles({ 'a.opf': '' })), {
    code: 'unsupported_format',
  })
  await t.rejects(openEpub(t.testdir(), Buffer.from('<html>')), { code: 'not_an_archive' })
})

t.test('a package without spine and resources is opened', async t => {
  const book = await openEpub(t.testdir(), epubBytes({ metadata: '<title>T</title>' }))
  t.same([book.pageCount, book.pages, await firstCover(book)], [0, [], null])
})

t.test(
  'repeated spine items, which EPUB forbids, are pages once, as they are positions once',
  async t => {
    const book = await openEpub(
      t.testdir(),
      epubBytes({
        manifest: item('a', 'a.xhtml', 'application/xhtml+xml'),
        spine: '<itemref idref="a"/><itemref idref="a"/>',
        files: { 'OPS/a.xhtml': 'a' },
      }),
    )
    t.equal(book.pageCount, 1)
  },
)
