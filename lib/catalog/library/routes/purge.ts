// Purge: permanent deletion of missing books, whose progress is preserved until then.

import { count } from '../../../base/schema.ts'
import { LibraryId, SeriesId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { purgeLibrary, purgeSeries } from '../../book/purge.ts'

const permission = 'BooksDelete'
const description =
  'Deletes books that are missing on disk, including their progress, and then empty series if the setting `purge.purge_empty_series` is on. Returns the number of deleted books.'

export const purge = [
  route('DELETE /libraries/{id}/purge-deleted', {
    operationId: 'purgeLibrary',
    permission,
    summary: 'Delete the missing books of a library',
    description,
    params: LibraryId,
    responses: { 200: count() },
    handle: ({ params, viewer }, { sql }) => purgeLibrary(sql, viewer, params.id),
  }),
  route('DELETE /series/{id}/purge-deleted', {
    operationId: 'purgeSeries',
    permission,
    summary: 'Delete the missing books of a series',
    description,
    params: SeriesId,
    responses: { 200: count() },
    handle: ({ params, viewer }, { sql }) => purgeSeries(sql, viewer, params.id),
  }),
]
