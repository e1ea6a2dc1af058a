import t from 'tap'
import { parseOpf } from '../../../lib/media/metadata/opf.ts'

const read = (inner: string) => {
  const { metadata, warnings } = parseOpf(
    Buffer.from(`<package><metadata>${inner}</metadata></package>`),
  )
  return { ...metadata, warnings }
}
const one = (text: string) => read(`<identifier>${text}</identifier>`)

t.test('an ISBN is recognized by scheme, prefix, refinement or form', t => {
  for (const inner of [
    '<identifier opf:scheme="ISBN">0-306-40615-2</identifier>',
    '<identifier>urn:isbn:9780306406157</identifier>',
    '<identifier>ISBN:9780306406157</identifier>',
    '<identifier>ISBN 978-0-306-40615-7</identifier>',
    '<identifier>978-0-306-40615-7</identifier>',
    '<identifier id="i">9780306406157</identifier><meta refines="#i" property="identifier-type" scheme="onix:codelist5">15</meta>',
  ]) {
    t.same(read(inner), { isbn: '9780306406157', warnings: [] }, inner)
  }
  t.end()
})

t.test('other identifiers have a scheme', t => {
  const cases: [string, string, string][] = [
    ['goodreads:222735', 'goodreads', '222735'],
    ['AMAZON:3440077934', 'amazon', '3440077934'],
    [
      'urn:uuid:499def46-39dc-4e79-b474-d0ec12ea5dc5',
      'uuid',
      '499def46-39dc-4e79-b474-d0ec12ea5dc5',
    ],
    ['499def46-39dc-4e79-b474-d0ec12ea5dc5', 'uuid', '499def46-39dc-4e79-b474-d0ec12ea5dc5'],
    ['http://www.gutenberg.org/65659', 'uri', 'http://www.gutenberg.org/65659'],
    ['NOID', 'unknown', 'NOID'],
  ]
  for (const [text, scheme, value] of cases)
    t.same(one(text).identifiers, [{ scheme, value }], text)
  t.same(read('<identifier scheme="DOI">10.1/x</identifier>').identifiers, [
    { scheme: 'doi', value: '10.1/x' },
  ])
  t.end()
})

t.test('a second ISBN is an identifier, an invalid one yields a warning', t => {
  t.match(read('<identifier>9780306406157</identifier><identifier>9783440077894</identifier>'), {
    isbn: '9780306406157',
    identifiers: [{ scheme: 'isbn', value: '9783440077894' }],
  })
  t.match(one('ISBN:9780306406158'), { warnings: [/invalid ISBN/] })
  t.equal(one(' ').identifiers, undefined)
  t.end()
})
