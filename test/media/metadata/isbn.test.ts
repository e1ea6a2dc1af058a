import isbn3 from 'isbn3'
import t from 'tap'
import { readXmp } from '../../../lib/media/format/pdf/metadata.ts'
import { parseComicInfo } from '../../../lib/media/metadata/comicinfo.ts'
import { findIsbn, isbn13 } from '../../../lib/media/metadata/isbn.ts'
import { parseMetronInfo } from '../../../lib/media/metadata/metroninfo.ts'
import { parseOpf } from '../../../lib/media/metadata/opf.ts'
import { createRandom } from '../../kit/random.ts'

t.test('ISBNs in all notations are normalized to 13 digits', t => {
  for (const text of [
    '0-306-40615-2',
    '978 0 306 40615 7',
    '978‑0‑306‑40615‑7',
    'urn:isbn:9780306406157',
    'ISBN 0306406152',
    'eISBN: 9780306406157',
    'ISBN-13: 978-0-306-40615-7',
    '９７８０３０６４０６１５７',
  ]) {
    t.equal(isbn13(text), '9780306406157', text)
  }
  t.equal(isbn13('3-440-07789-X'), null)
  t.equal(isbn13('0-8044-2957-x'), '9780804429573')
  t.end()
})

t.test('other numbers are rejected', t => {
  for (const text of ['', '9780306406158', '1234567890123', '76194130593600111', 'x'.repeat(1e6)]) {
    t.equal(isbn13(text), null, text.slice(0, 20))
  }
  t.end()
})

/** A valid ISBN-13 of the English-language area. */
function randomIsbn({ below }: ReturnType<typeof createRandom>): string {
  for (;;) {
    const nine = `978${below(2)}${String(below(1e8)).padStart(8, '0')}`
    const sum = [...nine].reduce((total, digit, i) => total + Number(digit) * (i % 2 ? 3 : 1), 0)
    const isbn = nine + ((10 - (sum % 10)) % 10)
    if (isbn3.asIsbn13(isbn) === isbn) return isbn
  }
}

const schemes = 'ISBN isbn13 ISBN-13 eISBN pisbn print-isbn EAN ean13 GTIN GTIN-13 other x'.split(
  ' ',
)
const prefixes = [
  '',
  'urn:isbn:',
  'ISBN:',
  'isbn ',
  'ISBN-13: ',
  'urn:ean:',
  'EAN:',
  'eISBN ',
  'URN:ISBN:',
]
const notations = (isbn: string): string[] => [
  isbn,
  isbn3.hyphenate(isbn) as string,
  (isbn3.hyphenate(isbn) as string).replaceAll('-', ' '),
  (isbn3.hyphenate(isbn) as string).replaceAll('-', '\u2011'),
]

t.test('an ISBN is found under any scheme, prefix and notation in every source', t => {
  const random = createRandom(3)
  const opf = (inner: string) =>
    parseOpf(Buffer.from(`<package><metadata>${inner}</metadata></package>`)).metadata.isbn
  const xmp = (inner: string) =>
    readXmp(
      Buffer.from(
        '<rdf:RDF xmlns:rdf="r" xmlns:dc="d" xmlns:prism="p" xmlns:pdfx="x"><rdf:Description>' +
          `${inner}</rdf:Description></rdf:RDF>`,
      ),
    ).metadata.isbn
  for (const prefix of prefixes) {
    for (let i = 0; i < 4; i += 1) {
      const isbn = randomIsbn(random)
      const text = prefix + notations(isbn)[i]
      t.equal(isbn13(text), isbn, text)
      t.equal(findIsbn([`published as ${text} (paperback)`]), isbn, text)
      t.equal(opf(`<dc:identifier>${text}</dc:identifier>`), isbn, text)
      const scheme = random.pick(schemes)
      t.equal(
        opf(`<dc:identifier opf:scheme="${scheme}">${text}</dc:identifier>`),
        isbn,
        `${scheme} ${text}`,
      )
      const type = `<meta refines="#i" property="identifier-type">${scheme}</meta>`
      t.equal(
        opf(`<dc:identifier id="i">${text}</dc:identifier>${type}`),
        isbn,
        `${scheme} ${text}`,
      )
      t.equal(xmp(`<dc:identifier>${text}</dc:identifier>`), isbn, text)
      t.equal(xmp(`<prism:isbn>${text}</prism:isbn>`), isbn, text)
      const comicInfo = `<ComicInfo><GTIN>${text}</GTIN></ComicInfo>`
      t.equal(parseComicInfo(Buffer.from(comicInfo)).metadata.isbn, isbn, text)
      const metron = `<MetronInfo><GTIN><ISBN>${text}</ISBN></GTIN></MetronInfo>`
      t.equal(parseMetronInfo(Buffer.from(metron)).metadata.isbn, isbn, text)
    }
  }
  t.end()
})

t.test('add-on codes, lists and addresses contain ISBNs', t => {
  const isbn = '9780306406157'
  for (const text of [
    `${isbn}51999`,
    `${isbn} 51999`,
    `0${isbn}`,
    `76194130593600111, ${isbn}`,
    `${isbn} (ebook)`,
  ])
    t.equal(findIsbn([text]), isbn, text)
  const { metadata } = parseOpf(
    Buffer.from(
      '<package><metadata><dc:identifier>https://example.org/isbn/9780306406157</dc:identifier></metadata></package>',
    ),
  )
  t.match(metadata, { isbn, identifiers: [{ scheme: 'uri' }] })
  t.end()
})
