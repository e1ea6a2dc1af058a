// What the probe expects of the library that library.ts writes.

/** Pages by the title of the book or the name of its file. */
export const expected = { books: 9, series: 4, titledSaga: 3, fileFormats: 6 } as const

export const account = {
  username: 'ana',
  email: 'ana@example.org',
  password: 'correct horse battery',
}
