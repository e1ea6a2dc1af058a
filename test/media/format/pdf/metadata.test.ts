import t, { type Test } from 'tap'
import { isPlaceholderTitle, splitAuthors } from '../../../../lib/media/format/pdf/metadata.ts'
import { findIsbn } from '../../../../lib/media/metadata/isbn.ts'
import { openPdf, pdfOf, stream } from '../../../kit/files/pdf.ts'

const names = (text: string) => splitAuthors(text).map(author => author.name)

async function metadataOf(t: Test, info: string, root = '', more: (string | Buffer)[] = []) {
  const bytes = pdfOf(
    [
      `<</Type/Catalog/Pages 2 0 R${root}>>`,
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]/Contents ${5 + more.length} 0 R>>`,
      `<<${info}>>`,
      ...more,
      stream('', '9 9 9 9 re f'),
    ],
    '/Info 4 0 R',
  )
  const [reading] = await (await openPdf(t, bytes)).metadata()
  return reading!
}

t.test(
  'title, authors, tags, summary and date are read from the information dictionary',
  async t => {
    const info =
      '/Title(The Book)/Author(A. One; B. Two)/Subject(What it is)/Keywords(a, b)' +
      "/CreationDate(D:20200131120000+01'00')"
    const { metadata, source, warnings } = await metadataOf(t, info, '/Lang(fr-be)')
    t.same([source, warnings], ['pdf', []])
    t.match(metadata, {
      title: 'The Book',
      authors: [{ name: 'A. One' }, { name: 'B. Two' }],
      summary: 'What it is',
      tags: ['a', 'b'],
      language: 'fr-BE',
      year: 2020,
      month: 1,
      day: 31,
    })
  },
)

t.test('XMP complements the dictionary and separates authors', async t => {
  const packet = `<?xpacket begin="" id="x"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
    <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/">
    <rdf:Description rdf:about=""><dc:title><rdf:Alt><rdf:li xml:lang="x-default">Real</rdf:li></rdf:Alt></dc:title>
    <dc:creator><rdf:Seq><rdf:li>Doe, Jane</rdf:li><rdf:li>Ray</rdf:li></rdf:Seq></dc:creator>
    </rdf:Description></rdf:RDF></x:xmpmeta>`
  const root = '/Metadata 5 0 R'
  const xmp = [stream('/Type/Metadata/Subtype/XML', packet)]
  const reading = await metadataOf(t, '/Title(untitled)/Author(Jane Doe)', root, xmp)
  t.match(reading.metadata, { title: 'Real', authors: [{ name: 'Doe, Jane' }, { name: 'Ray' }] })
  const titled = await metadataOf(t, '/Title(Given)', root, xmp)
  t.equal(titled.metadata.title, 'Given')
  const noise = await metadataOf(t, '/Title(Given)', root, [stream('', 'no xml at all')])
  t.equal(noise.warnings.length, 1)
  const chained = stream('/Filter[/FlateDecode/FlateDecode]', 'x')
  t.equal((await metadataOf(t, '/Title(Given)', root, [chained])).warnings.length, 1)
})

t.test('placeholder titles are detected', async t => {
  const junk = [
    ...['', ' ', '...', 'untitled', 'Untitled-1', 'Untitled 3', 'Print', 'Microsoft Word - Thesis'],
    ...['chapter1.doc', 'C:\\temp\\x', '/home/a/b', 'scan0001.tif', 'book.indd', 'Document1'],
  ]
  for (const title of junk) t.ok(isPlaceholderTitle(title), title)
  for (const title of ['Print Culture', 'Untitled Goose', 'Batman 001', '日本語', '1984'])
    t.notOk(isPlaceholderTitle(title), title)
})

t.test('lists of authors are split', async t => {
  t.same(names('A. One; B. Two;C. Three'), ['A. One', 'B. Two', 'C. Three'])
  t.same(names('A. One & B. Two'), ['A. One', 'B. Two'])
  t.same(names('Ann Lee and Bo Ray'), ['Ann Lee', 'Bo Ray'])
  t.same(names('Ann Lee, Bo Ray, Cy Poe'), ['Ann Lee', 'Bo Ray', 'Cy Poe'])
  t.same(names('Herbert, Frank'), ['Herbert, Frank'])
  t.same(names('Alexander Anderson'), ['Alexander Anderson'])
  t.same(names('Administrator'), [])
  t.same(names(''), [])
})

t.test('an ISBN is found in text, a telephone number is not', async t => {
  t.equal(findIsbn([undefined, 'x ISBN 978-0-306-40615-7 y']), '9780306406157')
  t.equal(findIsbn(['9780306406157']), '9780306406157')
  t.equal(findIsbn(['ISBN-10: 0-306-40615-2']), '9780306406157')
  t.equal(findIsbn(['0306406152', '978-0-306-40615-8', 'call 0306 406152']), undefined)
  const keyed = await metadataOf(t, '/Keywords(9780306406157)')
  t.equal(keyed.metadata.isbn, '9780306406157')
})
