// Presets for books against servers that answer in the shapes of the services.
import { test } from 'tap'
import type { BookQuery } from '../../../lib/sources/contract.ts'
import { failing } from '../failing.ts'
import { bookServices } from './book-services.ts'
import { call, openPreset } from './open-preset.ts'

const hobbit: BookQuery = {
  ...{ title: 'The Hobbit', author: 'Tolkien, J.R.R.', isbn: null },
  limit: 10,
}

const expected: Record<string, { isbn: string; hit: object; book: object }> = {
  'open-library': {
    isbn: '9780547928227',
    hit: {
      ...{ externalId: 'OL33891821M', title: 'The Hobbit', authors: ['J.R.R. Tolkien'] },
      ...{ isbns: ['9780547928227'], publisher: 'Mariner Books', year: 1937 },
      url: 'https://openlibrary.org/works/OL27448W',
      coverUrl: 'https://covers.openlibrary.org/b/id/14627509-M.jpg',
    },
    book: {
      url: 'https://openlibrary.org/books/OL33891821M/The_Hobbit',
      coverUrl: 'https://covers.openlibrary.org/b/id/14627509-L.jpg',
      metadata: {
        ...{ title: 'The Hobbit', subtitle: 'or There and Back Again', year: 2012 },
        ...{ publisher: 'Mariner Books', summary: 'Bilbo Baggins leaves home.' },
        authors: [{ name: 'J.R.R. Tolkien', role: 'author' }],
        ...{ languageIso: 'eng', subjects: ['Dragons', 'Dwarves'] },
        isbns: ['9780547928227', '054792822X'],
      },
      externalIds: [{ source: 'goodreads', externalId: '5907' }, { source: 'librarything' }],
    },
  },
  'google-books': {
    isbn: '9780547951973',
    hit: {
      ...{ externalId: 'pD6arNyKyi8C', isbns: ['9780547951973'], year: 2012 },
      ...{ alternateTitles: ['The Hobbit: Or There and Back Again'] },
      summary: 'Bilbo Baggins leaves home.',
    },
    book: {
      hash: 'zxYl0rBZ8aI',
      coverUrl: /zoom=4$/,
      metadata: {
        ...{ year: 2012, month: 2, day: 15, languageIso: 'en' },
        ...{ summary: 'Bilbo Baggins leaves home.', isbns: ['9780547951973'] },
        genre: ['Fiction', 'Fantasy', 'Epic', 'Classics'],
      },
    },
  },
}

test('each preset finds and fetches a book of its service', async t => {
  for (const name of Object.keys(bookServices)) {
    const { source, sent } = await openPreset(t, name)
    const { isbn, hit, book } = expected[name]!
    t.match(await source.describe(call), { capabilities: ['books'] }, name)
    const [found] = await source.searchBooks!({ ...hobbit, isbn }, call)
    t.match(found, { ...hit, relevance: 1 }, `${name}: by ISBN`)
    sent.length = 0
    const [byTitle] = await source.searchBooks!(
      { ...hobbit, title: 'Hobbit, The', isbn: '9783161484100' },
      call,
    )
    t.equal(sent.length, 2, `${name}: an unknown ISBN is searched for by title`)
    t.match(byTitle, hit, `${name}: by title and author`)
    t.ok(byTitle!.relevance < 1 && byTitle!.relevance > 0.8, `${name}: ${byTitle!.relevance}`)
    t.match(await source.fetchBook!(found!.externalId, call), book, name)
    t.equal(await source.fetchBook!('OL999M', call), null, `${name}: there is no such book`)
  }
})

test('a book without author and ISBN is never certain', async t => {
  const { source } = await openPreset(t, 'open-library')
  const [hit] = await source.searchBooks!({ ...hobbit, author: null }, call)
  t.equal(hit!.relevance, 0.9)
  const [other] = await source.searchBooks!({ ...hobbit, author: 'Chuck Dixon' }, call)
  t.ok(other!.relevance < 0.7, `${other!.relevance}: by another author`)
})

test('a key is optional, sent as a parameter, and never shown', async t => {
  const { source, sent } = await openPreset(t, 'google-books', { key: 'wrong-secret' })
  const error = await source.searchBooks!(hobbit, call).catch((thrown: Error) => thrown)
  t.match(sent[0]!.url, /[?&]key=wrong-secret$/)
  t.match(error, failing({ kind: 'status' }))
  t.notMatch(JSON.stringify(error, Object.getOwnPropertyNames(error)), /wrong-secret/)
})

test('a book search that answers nonsense is a failure and no match', async t => {
  const { source, state } = await openPreset(t, 'open-library')
  state.fault = { body: '<html>Too many requests</html>' }
  await t.rejects(source.searchBooks!(hobbit, call), failing({ kind: 'invalid' }))
  state.fault = { body: '{"docs": [{"title": 7}, {"key": []}, null, "x"]}' }
  t.same(await source.searchBooks!(hobbit, call), [])
})
