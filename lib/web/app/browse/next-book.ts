// The book of a series to go on with: the one being read, else the first that is not read.
import { api, body, type Schemas } from '../api/client.ts'

/** Null when all are read, or there is none. Throws ApiError. */
export async function nextBookOf(
  seriesId: string,
  signal: AbortSignal,
): Promise<Schemas['Book'] | null> {
  const first = async (status: 'in_progress' | 'unread', sort: 'last_read,desc' | 'number,asc') => {
    const condition = {
      allOf: [
        { seriesId: { operator: 'is', value: seriesId } },
        { readStatus: { operator: 'is', value: status } },
        { hasError: { operator: 'isFalse' } },
      ],
    } satisfies Schemas['BookCondition']
    const query = { page: 1, pageSize: 1, sort }
    const page = await body(
      api.POST('/api/v1/books/list', { params: { query }, body: { condition }, signal }),
    )
    return page.data[0] ?? null
  }
  const [reading, unread] = await Promise.all([
    first('in_progress', 'last_read,desc'),
    first('unread', 'number,asc'),
  ])
  return reading ?? unread
}
