// Marks several books or series as read or unread at once.

import { deviceOf } from '../../http/client/device.ts'
import { type Route, route } from '../../http/route.ts'
import { type MarkSelection, markBooks } from '../../reading/mark.ts'
import { BookIds, BulkCount, SeriesIds, skipNote } from './bulk-ids.ts'

type Subject = {
  path: '/books' | '/series'
  name: string
  summary: string
  ids: typeof BookIds | typeof SeriesIds
  select: (body: never) => MarkSelection
}

const subjects: Subject[] = [
  {
    path: '/books',
    name: 'Books',
    summary: 'several books',
    ids: BookIds,
    select: ({ bookIds }: { bookIds: string[] }) => ({ books: bookIds }),
  },
  {
    path: '/series',
    name: 'Series',
    summary: 'all books of several series',
    ids: SeriesIds,
    select: ({ seriesIds }: { seriesIds: string[] }) => ({ series: seriesIds }),
  },
]

export const bulkRead = subjects.flatMap(subject =>
  (['read', 'unread'] as const).map(mark => markRoute(subject, mark)),
)

function markRoute({ path, name, summary, ids, select }: Subject, mark: 'read' | 'unread'): Route {
  return route(`POST ${path}/bulk/${mark}`, {
    operationId: `mark${mark === 'read' ? 'Read' : 'Unread'}${name}`,
    permission: { any: ['BooksWrite', 'ProgressWrite'] },
    summary: `Mark ${summary} as ${mark}`,
    description: skipNote,
    body: ids,
    responses: { 200: BulkCount },
    async handle({ body, viewer, request, identity }, { sql }) {
      const origin = { surface: 'api', device: deviceOf(request, identity) } as const
      const { count } = await markBooks(sql, viewer, { ...select(body as never), origin, mark })
      return { count, message: `${count} ${count === 1 ? 'book' : 'books'} marked as ${mark}` }
    },
  })
}
