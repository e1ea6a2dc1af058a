import assert from 'node:assert/strict'
import fc from 'fast-check'
import { XmlDocument, type XmlElement } from 'libxml2-wasm'
import { SaxesParser } from 'saxes'
import t from 'tap'
import { document, element, removeInvalidChars, text } from '../../lib/base/xml-writer.ts'

/** A document of one element with `value` as its text and as an attribute. */
const write = (value: string) => document(element('a', { b: value }, value))

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
  const current = { text: '', attribute: '' }
  let result: typeof current | null = null
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', tag => {
    current.attribute = tag.attributes.b!.value
    current.text = ''
  })
  parser.on('text', part => {
    current.text += part
  })
  parser.on('closetag', () => {
    result = { ...current }
  })
  parser.write(xml).close()
  return result
}

function readWithLibxml(xml: string) {
  // The binding, not the parser, takes U+FEFF at the start of longer text for a byte order mark.
  const unmarked = (text: string) => text.replace(/^\ufeff/, '')
  const document = XmlDocument.fromString(xml)
  try {
    const root: XmlElement = document.root
    return { text: unmarked(root.content), attribute: unmarked(root.attr('b')!.value) }
  } finally {
    document.dispose()
  }
}

/** Any UTF-16, with problematic sequences more often than by chance. */
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

t.test('any text is preserved, except characters that XML cannot contain', async () => {
  fc.assert(
    fc.property(anything, value => {
      const xml = write(value)
      const expected = allowed(value)
      assert.deepEqual(readStrictly(xml), { text: expected, attribute: expected })
      // libxml2-wasm removes byte order marks from strings.
      const unmarked = (text: string) => text.replace(/^\ufeff+/, '')
      const { text, attribute } = readWithLibxml(xml)
      assert.deepEqual([text, attribute].map(unmarked), [expected, expected].map(unmarked))
    }),
    { numRuns: 300 },
  )
})

t.test(
  'the output has no doctype, comments, CDATA sections or processing instructions',
  async () => {
    fc.assert(
      fc.property(anything, value => {
        const [declaration, ...rest] = write(value).split('\n')
        assert.equal(declaration, '<?xml version="1.0" encoding="UTF-8"?>')
        assert.doesNotMatch(rest.join('\n'), /<[!?]/)
      }),
      { numRuns: 100 },
    )
  },
)

t.test('only references that simple parsers know are written', async t => {
  const xml = write('\u0007<a & "b">\'\r\n\t')
  t.equal(
    xml.slice(xml.indexOf('\n') + 1),
    '<a b="&lt;a &amp; &quot;b&quot;&gt;\'&#13;&#10;&#9;">&lt;a &amp; "b"&gt;\'&#13;\n\t</a>\n',
  )
})

t.test('lone surrogates are removed, pairs are not', async t => {
  t.equal(removeInvalidChars('a\ud83d\ude00b\ud83dc\ude00'), 'a😀bc')
})

t.test('empty text gets a closing tag; an element without content does not', async t => {
  t.match(document(text('title', '')), '<title></title>')
  t.match(
    document(element('content', { type: 'text', length: undefined })),
    '<content type="text"/>',
  )
})
