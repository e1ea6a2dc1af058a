import assert from 'node:assert/strict'
import fc from 'fast-check'
import { XmlDocument, type XmlElement } from 'libxml2-wasm'
import { SaxesParser } from 'saxes'
import t from 'tap'
import { clean, document, element, text } from '../../lib/opds/atom/xml.ts'

/** A document of one element that holds `value` as its text and as an attribute. */
const written = (value: string) => document(element('a', { b: value }, value))

/** XML 1.0 §2.2, character by character. */
function allowed(value: string): string {
  const isChar = (c: number) =>
    c === 9 ||
    c === 10 ||
    c === 13 ||
    (c >= 0x20 && c <= 0xd7ff) ||
    (c >= 0xe000 && c <= 0xfffd) ||
    c >= 0x10000
  return [...value].filter(letter => isChar(letter.codePointAt(0)!)).join('')
}

function readStrictly(xml: string) {
  const read = { text: '', attribute: '' }
  let whole: typeof read | null = null
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', tag => {
    read.attribute = tag.attributes.b!.value
    read.text = ''
  })
  parser.on('text', part => {
    read.text += part
  })
  parser.on('closetag', () => {
    whole = { ...read }
  })
  parser.write(xml).close()
  return whole
}

function readWithLibxml(xml: string) {
  using read = XmlDocument.fromString(xml)
  const root: XmlElement = read.root
  // The binding, not the parser, takes U+FEFF at the start of longer text for a mark.
  const unmarked = (text: string) => text.replace(/^\ufeff/, '')
  return { text: unmarked(root.content), attribute: unmarked(root.attr('b')!.value) }
}

/** Any UTF-16 at all, and what trips writers more often than chance would. */
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map(units => String.fromCharCode(...units)),
  fc.string({
    unit: fc.constantFrom(
      ...['&', '<', '>', '"', "'", ']]>', '&#0;', '&amp;', '<!--', '<![CDATA[', '<?x ?>', '\r\n'],
      ...['\r', '\n', '\t', '\0', '\u001b', '\u0085', '\u2028', '\ufffe', '\uffff', '\ud800'],
      ...['\udfff', '😀', 'שלום', '\u202e', '\ufeff', ' ', '{pageNumber}'],
    ),
    maxLength: 30,
  }),
)

t.test('any text comes back as it was, but for what XML cannot hold', async () => {
  fc.assert(
    fc.property(anything, value => {
      const xml = written(value)
      const expected = allowed(value)
      assert.deepEqual(readStrictly(xml), { text: expected, attribute: expected })
      // Each string that comes out of libxml loses its byte order marks on the way.
      const unmarked = (said: string) => said.replace(/^\ufeff+/, '')
      const { text, attribute } = readWithLibxml(xml)
      assert.deepEqual([text, attribute].map(unmarked), [expected, expected].map(unmarked))
    }),
    { numRuns: 300 },
  )
})

t.test('what is written is plain: no doctype, comment, CDATA or instruction', async () => {
  fc.assert(
    fc.property(anything, value => {
      const [declaration, ...rest] = written(value).split('\n')
      assert.equal(declaration, '<?xml version="1.0" encoding="UTF-8"?>')
      assert.doesNotMatch(rest.join('\n'), /<[!?]/)
    }),
    { numRuns: 100 },
  )
})

t.test('small parsers meet no reference that they do not know', async t => {
  const xml = written('\u0007<a & "b">\'\r\n\t')
  t.equal(
    xml.slice(xml.indexOf('\n') + 1),
    '<a b="&lt;a &amp; &quot;b&quot;&gt;\'&#13;&#10;&#9;">&lt;a &amp; "b"&gt;\'&#13;\n\t</a>\n',
  )
})

t.test('halves of characters are left out, whole ones are not', async t => {
  t.equal(clean('a\ud83d\ude00b\ud83dc\ude00'), 'a😀bc')
})

t.test('an empty text has a closing tag; an element without content has none', async t => {
  t.match(document(text('title', '')), '<title></title>')
  t.match(
    document(element('content', { type: 'text', length: undefined })),
    '<content type="text"/>',
  )
})
