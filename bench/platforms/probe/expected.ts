// Expected results of the probe for the library of library.ts.

/** Pages by the title of the book or the name of its file. */
export const expected = { books: 9, series: 4, titledSaga: 3, fileFormats: 6 } as const

export const account = {
  username: 'ana',
  email: 'ana@example.org',
  password: 'correct horse battery',
}
