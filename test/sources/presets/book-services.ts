// Answers in the shapes of services for books, as their public documentation and clients show them.
import type { Service } from './services.ts'

const openLibraryWork = {
  key: '/works/OL27448W',
  title: 'The Hobbit',
  subtitle: 'or There and Back Again',
  author_name: ['J.R.R. Tolkien'],
  first_publish_year: 1937,
  cover_i: 14627509,
  cover_edition_key: 'OL51711263M',
  isbn: ['9780547928227', '054792822X'],
  publisher: ['Allen & Unwin', 'Mariner Books'],
  editions: {
    numFound: 1,
    start: 0,
    docs: [
      {
        key: '/books/OL33891821M',
        title: 'The Hobbit',
        isbn: ['9780547928227'],
        publisher: ['Mariner Books'],
      },
    ],
  },
}

const openLibraryEdition = {
  bib_key: 'OLID:OL33891821M',
  info_url: 'https://openlibrary.org/books/OL33891821M/The_Hobbit',
  preview: 'noview',
  thumbnail_url: 'https://covers.openlibrary.org/b/id/14627509-S.jpg',
  details: {
    key: '/books/OL33891821M',
    title: 'The Hobbit',
    subtitle: 'or There and Back Again',
    authors: [{ key: '/authors/OL26320A', name: 'J.R.R. Tolkien' }],
    publishers: ['Mariner Books'],
    publish_date: 'September 18, 2012',
    description: { type: '/type/text', value: 'Bilbo Baggins leaves home.' },
    covers: [14627509],
    isbn_10: ['054792822X'],
    isbn_13: ['9780547928227'],
    languages: [{ key: '/languages/eng' }],
    subjects: ['Dragons', 'Dwarves'],
    identifiers: { goodreads: ['5907'], librarything: ['1937'] },
  },
}

const openLibrary: Service = ({ at }) => {
  const { pathname, searchParams } = at
  if (pathname === '/search.json') {
    const isbn = searchParams.get('isbn')
    const isFound =
      isbn === null ? searchParams.get('title') !== '' : openLibraryWork.isbn.includes(isbn)
    return {
      json: { numFound: isFound ? 1 : 0, start: 0, docs: isFound ? [openLibraryWork] : [] },
    }
  }
  const isKnown = searchParams.get('bibkeys') === openLibraryEdition.bib_key
  return { json: isKnown ? { [openLibraryEdition.bib_key]: openLibraryEdition } : {} }
}

const googleVolume = {
  kind: 'books#volume',
  id: 'pD6arNyKyi8C',
  etag: 'zxYl0rBZ8aI',
  selfLink: 'https://www.googleapis.com/books/v1/volumes/pD6arNyKyi8C',
  volumeInfo: {
    title: 'The Hobbit',
    subtitle: 'Or There and Back Again',
    authors: ['J.R.R. Tolkien'],
    publisher: 'Houghton Mifflin Harcourt',
    publishedDate: '2012-02-15',
    description: '<p>Bilbo Baggins <b>leaves</b> home.</p>',
    industryIdentifiers: [
      { type: 'ISBN_13', identifier: '9780547951973' },
      { type: 'OTHER', identifier: 'UOM:39015016' },
    ],
    pageCount: 320,
    printType: 'BOOK',
    categories: ['Fiction / Fantasy / Epic', 'Fiction / Classics'],
    language: 'en',
    imageLinks: {
      thumbnail: 'http://books.google.com/books/content?id=pD6arNyKyi8C&zoom=1',
      large: 'http://books.google.com/books/content?id=pD6arNyKyi8C&zoom=4',
    },
    infoLink: 'https://play.google.com/store/books/details?id=pD6arNyKyi8C',
    canonicalVolumeLink: 'https://play.google.com/store/books/details?id=pD6arNyKyi8C',
  },
}

const googleBooks: Service = ({ at }) => {
  const key = at.searchParams.get('key')
  if (key !== null && key !== 'google-key')
    return { status: 400, json: { error: { code: 400, message: 'API key not valid.' } } }
  if (at.pathname === '/books/v1/volumes') {
    const query = at.searchParams.get('q')!
    const isFound = query.startsWith('isbn:')
      ? query === 'isbn:9780547951973'
      : /^intitle:[^ ]/.test(query)
    return isFound
      ? { json: { kind: 'books#volumes', totalItems: 1, items: [googleVolume] } }
      : { json: { kind: 'books#volumes', totalItems: 0 } }
  }
  return at.pathname === `/books/v1/volumes/${googleVolume.id}`
    ? { json: googleVolume }
    : { status: 404, json: { error: { code: 404, message: 'The volume ID could not be found.' } } }
}

export const bookServices: Record<string, Service> = {
  'google-books': googleBooks,
  'open-library': openLibrary,
}
