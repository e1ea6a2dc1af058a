// Writes of a recording: one of each kind over each protocol, with records that show the change.
import { hash } from 'node:crypto'
import type { Viewer } from './catalog.ts'
import { get, type Request } from './request.ts'

const modified = '2017-03-04T05:06:07.000Z'

const run = '{{books:Long run/Long run 10.cbz}}'
const series = '{{series:Zot!}}'
/** Caller, method, path, body, and what shows the change. */
const changes: [Viewer, string, string, unknown, string?][] = [
  [
    'reader',
    'PUT',
    `/api/v1/books/${run}/progress`,
    { currentPage: 1, modified },
    `/api/v1/books/${run}`,
  ],
  ['reader', 'DELETE', `/api/v1/books/${run}/progress`, undefined, `/api/v1/books/${run}/progress`],
  [
    'reader',
    'PATCH',
    `/komga/api/v1/books/${run}/read-progress`,
    { page: 1 },
    `/komga/api/v1/books/${run}`,
  ],
  [
    'reader',
    'DELETE',
    `/komga/api/v1/books/${run}/read-progress`,
    undefined,
    `/komga/api/v1/books/${run}`,
  ],
  ['reader', 'POST', `/api/v1/series/${series}/read`, undefined, `/api/v1/series/${series}/full`],
  [
    'reader',
    'POST',
    `/api/v1/series/${series}/unread`,
    undefined,
    `/komga/api/v1/series/${series}`,
  ],
  ['reader', 'PUT', `/api/v1/series/${series}/rating`, { rating: 55 }, '/api/v1/user/ratings'],
  ['reader', 'POST', '/api/v1/want-to-read', { seriesId: series }, '/api/v1/want-to-read'],
  [
    'admin',
    'PATCH',
    `/api/v1/series/${series}/metadata`,
    { publisher: 'Changed' },
    `/api/v1/series/${series}/metadata`,
  ],
  [
    'admin',
    'PATCH',
    `/komga/api/v1/series/${series}/metadata`,
    { status: 'ENDED', genres: ['New one'] },
    `/komga/api/v1/series/${series}`,
  ],
  [
    'admin',
    'PATCH',
    `/api/v1/books/${run}/metadata`,
    { title: 'Renamed', year: 1999 },
    `/api/v1/books/${run}/full`,
  ],
  [
    'admin',
    'PATCH',
    `/komga/api/v1/books/${run}/metadata`,
    { tags: ['x'], summary: 'y' },
    `/komga/api/v1/books/${run}`,
  ],
  [
    'admin',
    'PUT',
    `/api/v1/series/${series}/tags`,
    { tags: ['one', 'two'] },
    '/api/v1/tags?pageSize=100',
  ],
  ['admin', 'POST', '/api/v1/books/bulk/read', { bookIds: [run] }, `/opds/v2/books/${run}`],
  [
    'admin',
    'PATCH',
    '/api/v1/collections/{{collections:Chosen & <more>}}',
    { name: 'New name' },
    '/komga/api/v1/collections',
  ],
  [
    'admin',
    'PATCH',
    '/komga/api/v1/readlists/{{readlists:By date}}',
    { name: 'Other name' },
    '/api/v1/readlists',
  ],
  [
    'admin',
    'PUT',
    '/api/v1/admin/settings/application.name',
    { value: 'Again' },
    '/api/v1/settings/branding',
  ],
]

/** Writes of each kind, each followed by what it changed. */
export function writeRequests(): Request[] {
  return changes.flatMap(([as, method, path, body, then]) => [
    { as, method, path, ...(body === undefined ? {} : { body }) },
    ...(then === undefined ? [] : [get(as, then)]),
  ])
}

/** Pushes and pulls of a device; the positions show in the other protocols. */
export function koreaderRequests(): Request[] {
  const names = ['Long run 12.cbz', 'words.epub', 'of no book.cbz']
  return [
    get('koreader', '/koreader/users/auth'),
    ...names.flatMap((name, i): Request[] => {
      const document = md5(name)
      const place = { device: 'Kobo', device_id: 'k1', timestamp: 1_480_000_000 + i }
      const progress = name.endsWith('epub') ? '/body/DocFragment[2]/body/p/text().10' : 1
      return [
        get('koreader', `/koreader/syncs/progress/${document}`),
        {
          as: 'koreader',
          method: 'PUT',
          path: '/koreader/syncs/progress',
          body: { document, progress, percentage: 0.5, ...place },
        },
        get('koreader', `/koreader/syncs/progress/${document}`),
      ]
    }),
    { as: 'koreader', method: 'PUT', path: '/koreader/syncs/progress', body: { document: 'x' } },
    ...[
      '/api/v1/books/{{books:Long run/Long run 12.cbz}}',
      '/komga/api/v1/books/{{books:Formats/words.epub}}',
      '/opds/v2/books/{{books:Formats/words.epub}}/progression',
      '/komga/api/v1/books/{{books:Formats/words.epub}}/progression',
      '/api/v1/books/in-progress',
    ].map(path => get('reader', path)),
  ]
}

const md5 = (text: string) => hash('md5', text, 'hex')
