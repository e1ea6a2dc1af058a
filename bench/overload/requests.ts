// The most expensive lists that the API accepts, by kind.
type Request = { path: string; method?: string; body?: object; leaveAfterMs?: number }

const count = 490
const words = Array.from({ length: count }, (_, i) => `${(i * 7919).toString(36)}`)
const contains = (field: string) =>
  words.map(value => ({ [field]: { operator: 'contains', value } }))

const unknownFields = Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`x${i}`, 1]))

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
    'aggregates of 490 contains': [
      {
        path: '/api/v1/series/list/alphabetical-groups',
        body: { condition: { anyOf: contains('name') } },
      },
    ],
    'OPDS feeds': [
      '/opds/v1/publishers',
      '/opds/v2/series?search=lo',
      '/opds/v2/search?query=lo',
    ].map(path => ({ path })),
    'a crawl': [
      '/opds/v1/genres',
      '/opds/v2/series?page=40',
      '/opds/v1/libraries',
      '/api/v1/books?page=300',
      '/api/v1/series?page=100',
      '/api/v1/genres',
    ].map(path => ({ path })),
    'invalid big bodies': [
      { path: '/api/v1/auth/refresh', body: unknownFields },
      { path: '/api/v1/books/list', body: unknownFields },
      { path: '/api/v1/books/list', body: { condition: { anyOf: new Array(400_000).fill(1) } } },
      { path: '/api/v1/user/preferences', method: 'PUT', body: { preferences: unknownFields } },
    ],
    searches: [{ path: '/api/v1/books/list', body: { fullTextSearch: 'a e i' } }],
  }
}
