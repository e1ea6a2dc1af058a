import t from 'tap'
import { readXmp } from '../../../lib/media/format/pdf/metadata.ts'

const spaces =
  'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/" ' +
  'xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/" xmlns:calibre="http://calibre-ebook.com/xmp-namespace" ' +
  'xmlns:calibreSI="http://calibre-ebook.com/xmp-namespace-series-index" xmlns:xmp="http://ns.adobe.com/xap/1.0/" ' +
  'xmlns:xmpidq="http://ns.adobe.com/xmp/Identifier/qual/1.0/"'
const packet = (inner: string, attributes = '') =>
  Buffer.from(
    `<rdf:RDF ${spaces}><rdf:Description rdf:about="" ${attributes}>${inner}</rdf:Description></rdf:RDF>`,
  )
const list = (kind: string, ...items: string[]) =>
  `<rdf:${kind}>${items.map(item => `<rdf:li>${item}</rdf:li>`).join('')}</rdf:${kind}>`
const read = (inner: string, attributes = '') => readXmp(packet(inner, attributes)).metadata

t.test('Dublin Core properties are read from lists, text and attributes', async t => {
  const inner =
    '<dc:title><rdf:Alt><rdf:li xml:lang="de">Buch</rdf:li><rdf:li xml:lang="x-default">Book</rdf:li></rdf:Alt></dc:title>' +
    `<dc:creator>${list('Seq', 'A', 'B')}</dc:creator><dc:subject>${list('Bag', 'x', 'y', 'X')}</dc:subject>` +
    `<dc:description>${list('Alt', 'About')}</dc:description><dc:language>${list('Bag', 'xx?', 'eng')}</dc:language>` +
    '<dc:publisher>House</dc:publisher><dc:date>2019-05</dc:date>'
  t.match(read(inner), {
    title: 'Book',
    authors: [{ name: 'A' }, { name: 'B' }],
    tags: ['x', 'y'],
    summary: 'About',
    language: 'en',
    publisher: 'House',
    year: 2019,
    month: 5,
  })
  t.match(read('', 'dc:title="Short"'), { title: 'Short' })
})

t.test('the series is read from calibre and PRISM', async t => {
  const calibre =
    '<calibre:series rdf:parseType="Resource"><rdf:value>Saga</rdf:value>' +
    '<calibreSI:series_index>3.00</calibreSI:series_index></calibre:series>'
  t.match(read(calibre), { series: 'Saga', number: '3' })
  const prism =
    '<prism:publicationName>Paper</prism:publicationName><prism:volume>4</prism:volume><prism:number>12</prism:number>'
  t.match(read(prism), { series: 'Paper', volume: 4, number: '12' })
})

t.test('an ISBN is read from PRISM, dc:identifier and the list of identifiers', async t => {
  t.equal(read('<prism:isbn>978-0-306-40615-7</prism:isbn>').isbn, '9780306406157')
  t.equal(read('<dc:identifier>urn:isbn:0306406152</dc:identifier>').isbn, '9780306406157')
  const item =
    '<rdf:li rdf:parseType="Resource"><xmpidq:Scheme>isbn</xmpidq:Scheme><rdf:value>9780306406157</rdf:value></rdf:li>'
  t.equal(read(`<xmp:Identifier><rdf:Bag>${item}</rdf:Bag></xmp:Identifier>`).isbn, '9780306406157')
})

t.test('text that was escaped twice is unescaped twice', async t => {
  const cases: [written: string, plain: string][] = [
    ['AT&amp;T', 'AT&T'],
    ['AT&amp;amp;T', 'AT&T'],
    ['A &amp;lt; B', 'A < B'],
    ['&amp;quot;Hi&amp;quot; &amp;#233;&amp;#x41;', '"Hi" éA'],
    ['<![CDATA[AT&amp;T]]>', 'AT&T'],
    ['Ghost \\(Vol. 1\\)', 'Ghost (Vol. 1)'],
    ['Caf\\351 \\(1\\)', 'Café (1)'],
    ['Caf\\303\\251', 'Café'],
    ['\\376\\377\\000A\\060\\102', 'Aあ'],
    ['C:\\100 days', 'C:\\100 days'],
    ['R&amp;D; more', 'R&D; more'],
  ]
  for (const [written, plain] of cases) {
    t.equal(read(`<dc:title>${list('Alt', written)}</dc:title>`).title, plain, written)
    t.same(read(`<dc:subject>${list('Bag', written)}</dc:subject>`).tags, [plain], written)
    t.same(read(`<prism:publicationName>${written}</prism:publicationName>`).series, plain, written)
    if (written.startsWith('<')) continue
    t.equal(read('', `dc:title="${written}"`).title, plain, written)
  }
})

t.test('other documents yield no metadata', async t => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from('<'),
    Buffer.from('<a/>'),
    Buffer.alloc(9999, '<rdf:li>'),
  ])
    t.same(readXmp(bytes).metadata, {})
})
