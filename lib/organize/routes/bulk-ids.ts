// Ids in the bodies of requests about several series or books, and the response with a count.
import { body, component, count, list, Type, uuid } from '../../base/schema.ts'

const maxBulkSeries = 100
const maxBulkBooks = 500

export const seriesIds = list(uuid(), { maxItems: maxBulkSeries })
export const bookIds = list(uuid(), { maxItems: maxBulkBooks })
/** The bodies of requests that contain only the ids of several series or books. */
export const SeriesIds = body('SeriesSelection', { seriesIds })
export const BookIds = body('BookSelection', { bookIds })
export const skipNote = 'Unknown ids are skipped.'
export const BulkCount = component('BulkCount', { count: count(), message: Type.String() })
