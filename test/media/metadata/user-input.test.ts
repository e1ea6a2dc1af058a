import t from 'tap'
import { mergeJson } from '../../../lib/base/json/json-text.ts'
import {
  checkStorable,
  parseAlternateTitles,
  parseAuthors,
  parseBookType,
  parseCustomMetadata,
  parseIsbns,
  parseLanguage,
  parseStatus,
  parseWebUrl,
  splitNames,
  uniqueTexts,
} from '../../../lib/media/metadata/user-input.ts'

t.test('words of a fixed set are accepted in any case and spacing', async t => {
  t.equal(parseStatus(' Ended', 'x'), 'ended')
  t.equal(parseBookType('Graphic-Novel', 'x'), 'graphic_novel')
  t.equal(parseBookType(' ', 'x'), null)
  t.throws(() => parseStatus('finished', 'body/status'), /body\/status must be one of ongoing/)
})

t.test('languages and ISBNs become canonical', async t => {
  t.equal(parseLanguage('PT-br', 'x'), 'pt-BR')
  t.equal(parseLanguage('', 'x'), null)
  t.throws(() => parseLanguage('xx-JP', 'x'), /language tag/)
  t.same(parseIsbns('0-306-40615-2, 9780306406157;', 'x'), ['9780306406157'])
  t.throws(() => parseIsbns('123', 'x'), /ISBN/)
})

t.test('authors, titles and names are deduplicated', async t => {
  const authors = [{ name: ' A ', role: 'Writer' }, { name: 'A', role: 'writer' }, { name: 'A' }]
  t.same(parseAuthors(authors, 'x'), [
    { name: 'A', role: 'writer', sortName: null },
    { name: 'A', role: null, sortName: null },
  ])
  const title = { label: 'en', title: 'T' }
  t.same(parseAlternateTitles([title, { label: ' en', title: 'T ' }], 'x'), [title])
  t.same(splitNames('A, B;A,, '), ['A', 'B'])
  t.same(uniqueTexts([' a', 'a', '']), ['a'])
})

t.test('web URLs must be http or https', async t => {
  t.equal(parseWebUrl(' https://example.org/?a=b ', 'x'), 'https://example.org/?a=b')
  for (const wrong of ['JavaScript:alert(1)', 'data:text/html,x', 'ftp://example.org', '/a'])
    t.throws(() => parseWebUrl(wrong, 'x'), /http/)
})

t.test('custom metadata is merged as in RFC 7396', async t => {
  // The examples of its appendix A that result in an object.
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
  for (const [current, patch, merged] of cases)
    t.same(JSON.parse(mergeJson(JSON.stringify(current), JSON.stringify(patch))), merged)
  t.same(mergeJson(null, '{"toString":{"a":1}}'), '{"toString":{"a":1}}')
  t.throws(() => parseCustomMetadata({ a: 'x'.repeat(70_000) }), /64 KiB/)
})

t.test('text that PostgreSQL cannot store is rejected at any depth', async t => {
  checkStorable({ a: ['b', { c: null }], d: '\ud83d\ude00' })
  for (const wrong of ['\0', ['\ud800'], { a: { '\0': 1 } }])
    t.throws(() => checkStorable(wrong), /cannot be stored/)
  let deep: unknown = 1
  for (let i = 0; i < 100; i++) deep = [deep]
  t.throws(() => checkStorable(deep), /too deeply/)
})
