// Ratings of series: the caller's with notes, and the mean of all accounts.
import { recordsReading } from '../../accounts/permission.ts'
import { patchBody, record, Type } from '../../base/schema.ts'
import { paged, pagedResponse, pageQuery } from '../../http/pagination.ts'
import { SeriesId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import { checkStorable, input, trimmedText } from '../../media/metadata/user-input.ts'
import {
  AverageRating,
  averageRating,
  deleteRating,
  findRating,
  listRatings,
  saveRating,
  UserRating,
} from '../personal/user-rating.ts'

const maxNotesLength = 10_000

// Accounts that may record reading may rate, so read-only keys may not.
const writePermission = { all: ['SeriesRead'], any: recordsReading } as const

export const ratings = [
  route('GET /series/{id}/rating', {
    operationId: 'getSeriesRating',
    permission: 'SeriesRead',
    summary: 'Get the rating of a series by the caller',
    description: '204 if there is none.',
    params: SeriesId,
    responses: { 200: UserRating, 204: null },
    async handle({ params, viewer }, { sql }) {
      return (await findRating(sql, viewer, params.id)) ?? respond(204, undefined)
    },
  }),
  route('PUT /series/{id}/rating', {
    operationId: 'setSeriesRating',
    permission: writePermission,
    summary: 'Rate a series',
    description: 'Absent notes are unchanged, null deletes them.',
    params: SeriesId,
    body: patchBody(
      'UserRatingUpdate',
      {
        rating: Type.Integer({ minimum: 1, maximum: 100 }),
        notes: input.text(maxNotesLength, { description: 'Visible only to the caller.' }),
      },
      UserRating,
    ),
    responses: { 200: UserRating },
    async handle({ params: { id: seriesId }, body: { rating, notes }, viewer }, { sql }) {
      checkStorable(notes)
      const trimmed = notes ? trimmedText(notes) : notes
      return await saveRating(sql, viewer, { seriesId, rating, notes: trimmed })
    },
  }),
  route('DELETE /series/{id}/rating', {
    operationId: 'deleteSeriesRating',
    permission: writePermission,
    summary: 'Delete the rating of a series by the caller',
    description: 'Also deletes its notes. 404 if there is no rating.',
    params: SeriesId,
    responses: { 204: null },
    handle: ({ params, viewer }, { sql }) => deleteRating(sql, viewer, params.id),
  }),
  route('GET /series/{id}/ratings/average', {
    operationId: 'getAverageSeriesRating',
    permission: 'SeriesRead',
    summary: 'Get the mean rating of a series by all accounts',
    params: SeriesId,
    responses: { 200: AverageRating },
    // At most one row per account.
    cost: 'record',
    handle: ({ params, viewer }, { sql }) => averageRating(sql, viewer, params.id),
  }),
  route('GET /user/ratings', {
    operationId: 'listRatings',
    permission: 'SeriesRead',
    summary: 'List the ratings of the caller',
    description: 'Most recently changed first.',
    query: record(pageQuery),
    responses: { 200: paged(UserRating) },
    handle: (input, { sql }) => pagedResponse(input, page => listRatings(sql, input.viewer, page)),
  }),
]
