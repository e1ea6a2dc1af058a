import t from 'tap'
import { decodeName, normalizeName } from '../../lib/archive/entry-name.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

t.test('the encoding of names is detected', async t => {
  t.equal(decodeName(Buffer.from('Page 01.jpg')), 'Page 01.jpg')
  t.equal(decodeName(Buffer.from('ページ1.jpg')), 'ページ1.jpg')
  t.equal(decodeName(hex('83 79 81 5b 83 57 31 2e 6a 70 67')), 'ページ1.jpg')
  t.equal(decodeName(hex('95 5c 8e 86 2e 6a 70 67')), '表紙.jpg')
  t.equal(decodeName(hex('b5 da d2 bb d2 b3 2e 6a 70 67')), '第一页.jpg')
  t.equal(decodeName(hex('f1 f2 f0 e0 ed e8 f6 e0 2e 6a 70 67')), 'страница.jpg')
  t.equal(decodeName(hex('e1 e2 e0 a0 ad a8 e6 a0 2e 6a 70 67')), 'страница.jpg')
  t.equal(decodeName(hex('43 61 66 82 2e 6a 70 67')), 'Café.jpg')
})

t.test('separators, NUL and lone surrogates are replaced', async t => {
  t.equal(decodeName(Buffer.from('a\\b.jpg')), 'a/b.jpg')
  t.equal(decodeName(Buffer.from('a\0b.jpg')), 'a\ufffdb.jpg')
  t.equal(normalizeName('a\ud800'), 'a\ufffd')
})
