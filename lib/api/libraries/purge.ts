// Erasing books whose files are gone. They kept their progress in case they come back.
import { purgeLibrary, purgeSeries } from '../../catalog/book/purge.ts'
import { route } from '../../http/route.ts'
import { count, Id } from '../../schema.ts'

const description =
  'Books that are missing on disk go for good, with their progress; then series that hold none any more, if the setting purge.purge_empty_series says so. Answers how many books.'

export const purge = [
  route({
    method: 'DELETE',
    path: '/libraries/{id}/purge-deleted',
    permission: 'LibrariesWrite',
    summary: 'Erase the missing books of a library',
    description,
    params: Id,
    responses: { 200: count() },
    handle: ({ params, viewer }, { sql }) => purgeLibrary(sql, viewer, params.id),
  }),
  route({
    method: 'DELETE',
    path: '/series/{id}/purge-deleted',
    permission: 'SeriesWrite',
    summary: 'Erase the missing books of a series',
    description,
    params: Id,
    responses: { 200: count() },
    handle: ({ params, viewer }, { sql }) => purgeSeries(sql, viewer, params.id),
  }),
]
