// Marks several books or series as read or unread at once.
import { deviceOf } from '../../http/client/device.ts'
import { route } from '../../http/route.ts'
import { type MarkSelection, markBooks } from '../../reading/mark.ts'
import { BookIds, BulkCount, SeriesIds, skipNote } from './bulk-ids.ts'

const subjects = [
  { path: '/books', name: 'Books', summary: 'several books', ids: BookIds },
  { path: '/series', name: 'Series', summary: 'all books of several series', ids: SeriesIds },
]

type Ids = { bookIds: string[] } | { seriesIds: string[] }
const selectionOf = (ids: Ids): MarkSelection =>
  'bookIds' in ids ? { books: ids.bookIds } : { series: ids.seriesIds }

export const bulkRead = subjects.flatMap(({ path, name, summary, ids }) =>
  (['read', 'unread'] as const).map(mark =>
    route(`POST ${path}/bulk/${mark}`, {
      operationId: `mark${mark === 'read' ? 'Read' : 'Unread'}${name}`,
      permission: { any: ['BooksWrite', 'ProgressWrite'] },
      summary: `Mark ${summary} as ${mark}`,
      description: skipNote,
      body: ids,
      responses: { 200: BulkCount },
      async handle({ body, viewer, request, identity }, { sql }) {
        const origin = { surface: 'api', device: deviceOf(request, identity) } as const
        const selection = selectionOf(body as Ids)
        const { count } = await markBooks(sql, viewer, { ...selection, origin, mark })
        return { count, message: `${count} ${count === 1 ? 'book' : 'books'} marked as ${mark}` }
      },
    }),
  ),
)
