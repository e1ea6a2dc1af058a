// The most expensive lists that the API accepts, by kind.
type Request = { path: string; body?: object; leaveAfterMs?: number }

const count = 490
const words = Array.from({ length: count }, (_, i) => `${(i * 7919).toString(36)}`)
const contains = (field: string) =>
  words.map(value => ({ [field]: { operator: 'contains', value } }))

/** Lists of requests, by name. */
export function heavyRequests(): Record<string, Request[]> {
  const books = (parts: object, query = '') => ({
    path: `/api/v1/books/list${query}`,
    body: { condition: parts },
  })
  const series = (parts: object) => ({ path: '/api/v1/series/list', body: { condition: parts } })
  return {
    'conditions of 490 contains': [
      books({ anyOf: contains('title') }),
      books({ anyOf: contains('summary') }),
      books({ anyOf: contains('path') }),
      books({ allOf: words.map(value => ({ tag: { operator: 'doesNotContain', value } })) }),
      series({ anyOf: contains('author') }),
      series({ anyOf: contains('name') }),
    ],
    'full pages of 500': [
      { path: '/api/v1/books?pageSize=500&full=true' },
      { path: '/api/v1/series?pageSize=500&full=true' },
      { path: '/api/v1/books?pageSize=500&full=true&page=20&sort=file_size,desc' },
    ],
    'clients that leave': [{ ...books({ anyOf: contains('summary') }), leaveAfterMs: 150 }],
    'short pages of 500': [{ path: '/api/v1/books?pageSize=500' }],
    searches: [{ path: '/api/v1/books/list', body: { fullTextSearch: 'a e i' } }],
  }
}
