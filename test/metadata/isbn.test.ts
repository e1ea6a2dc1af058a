import t from 'tap'
import { isbn13 } from '../../lib/metadata/isbn.ts'

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
