// Next book of a series: the one read last or its successor, otherwise the first unread one.
import { api, body, type Schemas } from '../api/client.ts'
import { isReadable } from '../lists/book-state.ts'

type Status = 'in_progress' | 'read' | 'unread'

/** The first book when all are read, null when there is none. Throws ApiError. */
export async function nextBookOf(
  seriesId: string,
  signal: AbortSignal,
): Promise<Schemas['Book'] | null> {
  const first = async (statuses: Status[], sort: 'last_read,desc' | 'number,asc') => {
    const condition = {
      allOf: [
        { seriesId: { operator: 'is', value: seriesId } },
        { anyOf: statuses.map(value => ({ readStatus: { operator: 'is' as const, value } })) },
        { hasError: { operator: 'isFalse' } },
      ],
    } satisfies Schemas['BookCondition']
    const query = { page: 1, pageSize: 1, sort }
    const page = await body(
      api.POST('/api/v1/books/list', { params: { query }, body: { condition }, signal }),
    )
    return page.data[0] ?? null
  }
  const [latest, unread] = await Promise.all([
    first(['in_progress', 'read'], 'last_read,desc'),
    first(['unread'], 'number,asc'),
  ])
  if (!latest?.readProgress?.completed) return latest ?? unread
  const params = { path: { id: latest.id } }
  const { next } = await body(api.GET('/api/v1/books/{id}/adjacent', { params, signal }))
  if (next && isReadable(next) && !next.readProgress?.completed) return next
  return (
    unread ??
    (await first(['in_progress'], 'last_read,desc')) ??
    (await first(['read'], 'number,asc'))
  )
}
