import t from 'tap'
import {
  childOf,
  childrenOf,
  descendantsOf,
  ownText,
  parseXml,
  textOf,
} from '../../../lib/media/metadata/xml.ts'
import { cpuMs } from '../../kit/suite/cpu-time.ts'

const parse = (text: string) => parseXml(Buffer.from(text))
const rootText = (text: string) => textOf(parse(text).root ?? undefined)

t.test('names are local and in lower case', t => {
  const { root } = parse(
    '<o:Package xmlns:o="u" O:ID="1" xml:lang="de"><O:B/><b x="2"/></o:Package>',
  )
  t.equal(root?.name, 'package')
  t.equal(root?.prefix, 'o')
  t.same(
    [...(root?.attributes ?? [])],
    [
      ['id', '1'],
      ['lang', 'de'],
    ],
  )
  t.equal(childrenOf(root ?? undefined, 'b').length, 2)
  t.equal(childOf(root ?? undefined, 'c'), undefined)
  t.end()
})

t.test('own text and text of descendants', t => {
  const { root } = parse('<a>one<b>two<![CDATA[<&>]]></b>three</a>')
  t.equal(ownText(root ?? undefined), 'onethree')
  t.equal(textOf(root ?? undefined), 'onetwo<&>three')
  t.end()
})

t.test('text before the declaration is ignored', t => {
  t.same(parse('\n  <?xml version="1.0"?><a>x</a>\0\n').warnings, [])
  t.same(parse('\ufeff<?xml version="1.1"?><a>x</a>').warnings, [])
  t.end()
})

t.test('only entities of HTML and short literals of the doctype are expanded', t => {
  t.equal(rootText('<a>&nbsp;&eacute;&#233;&#xe9;&amp;</a>'), '\u00a0ééé&')
  const lol =
    '<!DOCTYPE a [<!ENTITY a "lol"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
  t.equal(rootText(`${lol}<a>&a; &b; &c; &constructor;</a>`), 'lol &b; &c; &constructor;')
  const many = rootText(`${lol}<a>${'&a;'.repeat(100_000)}</a>`)
  t.equal(many.length, 3000, 'at most a thousand times')
  t.end()
})

t.test('stray ampersands and angle brackets are text', t => {
  t.equal(rootText('<a>AT&T & 1 < 2 <![CDATA[R&D]]> &copy;</a>'), 'AT&T & 1 < 2 R&D ©')
  t.end()
})

t.test('elements before an error are retained', t => {
  const { root, warnings } = parse('<a><b>one</b><c>two<d>three</d>')
  t.same(
    [...descendantsOf(root!)].map(({ name }) => name),
    ['b', 'c', 'd'],
  )
  t.match(warnings, [/not well formed/])
  t.equal(parse('').root, null)
  t.equal(parse('no markup').root, null)
  t.end()
})

t.test('depth, elements, attributes and errors are limited', t => {
  const bombs = {
    depth: '<a>'.repeat(1_000_000),
    elements: `<a>${'<b/>'.repeat(500_000)}</a>`,
    attributes: `<a ${Array.from({ length: 100_000 }, (_, i) => `b${i}=""`).join(' ')}/>`,
    errors: `<a>${'</x>'.repeat(500_000)}`,
    strays: `<a>${'<'.repeat(1_000_000)}`,
    spaces: `<a>${' '.repeat(4_000_000)}</a>`,
    cdata: `<a>&${'<![CDATA['.repeat(300_000)}`,
  }
  for (const [name, text] of Object.entries(bombs)) {
    const start = cpuMs()
    t.doesNotThrow(() => parse(text), name)
    t.ok(cpuMs() - start < 3000, `${name} took too long`)
  }
  t.end()
})
