import t from 'tap'
import {
  authorsOf,
  bookTypeOf,
  checkCustom,
  checkStorable,
  isbnsOf,
  languageOf,
  mergeCustom,
  namesIn,
  statusOf,
  texts,
  titlesOf,
  webAddress,
} from '../../../lib/catalog/metadata/metadata-values.ts'

t.test('words are taken in any case and shape', async t => {
  t.equal(statusOf(' Ended', 'x'), 'ended')
  t.equal(bookTypeOf('Graphic-Novel', 'x'), 'graphic_novel')
  t.equal(bookTypeOf(' ', 'x'), null)
  t.throws(() => statusOf('finished', 'body/status'), /body\/status must be one of ongoing/)
})

t.test('languages and ISBNs become canonical', async t => {
  t.equal(languageOf('PT-br', 'x'), 'pt-BR')
  t.equal(languageOf('', 'x'), null)
  t.throws(() => languageOf('jp-JP', 'x'), /language tag/)
  t.same(isbnsOf('0-306-40615-2, 9780306406157;', 'x'), ['9780306406157'])
  t.throws(() => isbnsOf('123', 'x'), /ISBN/)
})

t.test('people, titles and names are there once', async t => {
  const given = [{ name: ' A ', role: 'Writer' }, { name: 'A', role: 'writer' }, { name: 'A' }]
  t.same(authorsOf(given, 'x'), [
    { name: 'A', role: 'writer', sortName: null },
    { name: 'A', role: null, sortName: null },
  ])
  const title = { label: 'en', title: 'T' }
  t.same(titlesOf([title, { label: ' en', title: 'T ' }], 'x'), [title])
  t.same(namesIn('A, B;A,, '), ['A', 'B'])
  t.same(texts([' a', 'a', '']), ['a'])
})

t.test('links lead to the web', async t => {
  t.equal(webAddress(' https://example.org/?a=b ', 'x'), 'https://example.org/?a=b')
  for (const wrong of ['JavaScript:alert(1)', 'data:text/html,x', 'ftp://example.org', '/a'])
    t.throws(() => webAddress(wrong, 'x'), /http/)
})

t.test('custom metadata is merged as RFC 7396 has it', async t => {
  // The examples of its appendix whose results are objects.
  const cases: [object, object, object][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  for (const [before, patch, after] of cases)
    t.same(mergeCustom(before as Record<string, unknown>, patch as Record<string, unknown>), after)
  t.same(mergeCustom(null, { toString: { a: 1 } }), { toString: { a: 1 } })
  t.throws(() => checkCustom({ a: 'x'.repeat(70_000) }), /64 KiB/)
})

t.test('what the database cannot hold is found anywhere', async t => {
  checkStorable({ a: ['b', { c: null }], d: '\ud83d\ude00' })
  for (const wrong of ['\0', ['\ud800'], { a: { '\0': 1 } }])
    t.throws(() => checkStorable(wrong), /cannot be stored/)
  let deep: unknown = 1
  for (let i = 0; i < 100; i++) deep = [deep]
  t.throws(() => checkStorable(deep), /too deeply/)
})
