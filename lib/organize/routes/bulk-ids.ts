// Ids in the bodies of requests about several series or books, and the response with a count.
import { body, count, list, record, Type, uuid } from '../../base/schema.ts'

const maxBulkSeries = 100
const maxBulkBooks = 500

export const seriesIds = list(uuid(), { maxItems: maxBulkSeries })
export const bookIds = list(uuid(), { maxItems: maxBulkBooks })
/** The bodies of requests that contain only the ids of several series or books. */
export const SeriesIds = body({ seriesIds }, { component: 'SeriesSelection' })
export const BookIds = body({ bookIds }, { component: 'BookSelection' })
export const skipNote = 'Unknown ids are skipped.'
export const BulkCount = record(
  { count: count(), message: Type.String() },
  { component: 'BulkCount' },
)
