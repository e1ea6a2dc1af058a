// Requests of a recording: every GET of the documents, lists in every order and with every operator, searches,
// errors, and writes with what they changed. Records are named, so that a later run sends the same requests.
import type { Catalog, Viewer } from './catalog.ts'
import { conditionRequests } from './conditions.ts'
import { documentRequests } from './documents.ts'
import { get, type Request } from './request.ts'
import { koreaderRequests, writeRequests } from './writes.ts'

export function requestsOf({ names }: Catalog): Request[] {
  return [
    ...documentRequests(names),
    ...conditionRequests(),
    ...lists(),
    ...searches(),
    ...errors(),
    ...writeRequests(),
    ...koreaderRequests(),
  ]
}

/** Orders and pages. */
function lists(): Request[] {
  const pages = [
    '?page=2&pageSize=7',
    '?page=9&pageSize=7',
    '?pageSize=3&sort=title,desc',
    '?full=true',
  ]
  const komga = ['?size=7&page=1', '?unpaged=true', '?size=5&sort=metadata.title,desc', '?size=0']
  return (['admin', 'reader'] as const).flatMap(as => [
    ...['books', 'series', 'libraries', 'collections', 'readlists'].flatMap(list =>
      pages.map(query => get(as, `/api/v1/${list}${query}`)),
    ),
    ...['books', 'series', 'collections', 'readlists'].flatMap(list =>
      komga.map(query => get(as, `/komga/api/v1/${list}${query}`, { only: 'ids' })),
    ),
    ...['v1', 'v2'].flatMap(version =>
      [
        'series',
        'books/recent',
        'series/{{series:Long run}}',
        'libraries/{{libraries:The main one}}',
      ].flatMap(feed =>
        ['?page=2&pageSize=5', '?pageSize=2'].map(query =>
          get(as, `/opds/${version}/${feed}${query}`),
        ),
      ),
    ),
  ])
}

const words = [
  'sandman',
  'the sandman',
  'spiderman',
  'spider-man',
  'SPIDER MAN',
  'élan',
  'elan',
  'gaiman',
  '進撃',
  'robots space',
  'a',
  'nothing at all',
  '"part 2"',
  '100%',
]
const fullTexts = [
  'title:akira',
  'genre:drama',
  'tag:robots NOT genre:drama',
  'release_date:1990',
  'author:gaiman OR publisher:kodansha',
  '"long run"',
  'read_status:unread',
  'sharing_label:secret',
  '-akira',
  'age_rating:13',
  'status:ended',
  'title:',
]

function searches(): Request[] {
  const post = (as: Viewer, path: string, body: object): Request => ({
    as,
    method: 'POST',
    path,
    body,
    only: 'ids',
  })
  return (['admin', 'reader'] as const).flatMap(as => [
    ...words.flatMap(text => [
      post(as, '/api/v1/books/list', { fullTextSearch: text }),
      post(as, '/api/v1/series/list', { fullTextSearch: text }),
      post(as, '/api/v1/series/search', { query: text }),
      get(as, `/opds/v1/search?q=${encodeURIComponent(text)}`),
      get(as, `/opds/v2/search?query=${encodeURIComponent(text)}`),
    ]),
    ...[...words, ...fullTexts].flatMap(text => [
      post(as, '/komga/api/v1/books/list', { fullTextSearch: text }),
      post(as, '/komga/api/v1/series/list', { fullTextSearch: text }),
    ]),
  ])
}

const unknown = '00000000-0000-7000-8000-00000000dead'

function errors(): Request[] {
  const post = (path: string, body: unknown, as: Viewer = 'admin'): Request => ({
    as,
    method: 'POST',
    path,
    body,
  })
  const reads = [
    '/api/v1/books',
    `/api/v1/books/${unknown}`,
    '/api/v1/books/no-id',
    '/api/v1/users',
    '/api/v1/nothing',
    '/opds/v1/catalog',
    '/opds/v2',
    `/opds/v2/series/${unknown}`,
    '/komga/api/v1/books',
    `/komga/api/v1/series/${unknown}`,
    '/komga/api/v2/users',
    '/komga/api/v1/nothing',
    '/koreader/users/auth',
    '/api/v1/series/{{series:Hidden things}}',
    '/api/v1/libraries/{{libraries:The second one}}',
    '/komga/api/v1/series/{{series:Hidden things}}',
    '/opds/v1/series/{{series:Grown-ups only}}',
    '/api/v1/books?page=0',
    '/api/v1/books?pageSize=x',
    '/api/v1/books?unknown=1',
    '/api/v1/books?libraryId=x',
    '/komga/api/v1/books?size=-1',
    '/api/v1/books/{{books:Formats/broken.cbz}}/pages/1',
    '/api/v1/books/{{books:Formats/mixed.cbz}}/pages/99',
    '/api/v1/books/{{books:Formats/mixed.cbz}}/pages/x',
    '/opds/v2/books/{{books:Formats/words.epub}}/resource/none.xhtml',
  ]
  const viewers: Viewer[] = ['admin', 'reader', 'key', 'anonymous']
  const conditions = [
    1,
    [],
    { title: 1 },
    { title: { operator: 'like', value: 'x' } },
    { nothing: { operator: 'is' } },
    { allOf: {} },
    { allOf: [{ year: { operator: 'eq', value: 'x' } }] },
    { releaseDate: { operator: 'between', start: 'x' } },
  ]
  return [
    ...viewers.flatMap(as => reads.map(path => get(as, path))),
    ...conditions.flatMap(condition => [
      post('/api/v1/books/list', { condition }),
      post('/api/v1/series/list', { condition }),
      post('/komga/api/v1/books/list', { condition }),
      post('/komga/api/v1/series/list', { condition }),
    ]),
    post('/api/v1/books/list', 'text'),
    post('/api/v1/collections', {}),
    post('/api/v1/collections', { name: 'Not allowed' }, 'reader'),
    post(
      '/api/v1/auth/login',
      { username: 'recording-reader', password: 'wrong password' },
      'anonymous',
    ),
    post(
      '/api/v1/setup/initialize',
      { username: 'x', email: 'x@example.org', password: 'long enough' },
      'anonymous',
    ),
    { as: 'admin', method: 'DELETE', path: '/api/v1/books' },
    { as: 'reader', method: 'DELETE', path: '/api/v1/series/{{series:Akira}}' },
    {
      as: 'admin',
      method: 'PUT',
      path: '/api/v1/books/{{books:Akira/Akira 01.cbz}}/progress',
      body: { currentPage: -1 },
    },
  ]
}
