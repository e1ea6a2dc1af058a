// Sharing tags of a series.
import { rethrowUnknownTag } from '../../../accounts/sharing-rule.ts'
import type { Viewer } from '../../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../../base/errors.ts'
import {
  body,
  component,
  list,
  nullable,
  record,
  type Static,
  Type,
  uuid,
} from '../../../base/schema.ts'
import { paged, shortListQuery, shortListResponse } from '../../../http/pagination.ts'
import { SeriesId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import type { Queryable, Transaction } from '../../../store/postgres/db.ts'
import { publishChange } from '../../metadata/change-events.ts'
import { requireOwner } from '../../owner.ts'

const SeriesTag = component('SeriesSharingTag', {
  id: uuid(),
  name: Type.String(),
  description: nullable(Type.String()),
})
const SeriesTagPage = paged(SeriesTag)
const changedFields = ['sharing_tags']
const SeriesTagId = record({
  ...SeriesId.properties,
  tag_id: uuid({ description: 'Sharing tag id.' }),
})

export const seriesSharingTags = [
  route('GET /series/{id}/sharing-tags', {
    operationId: 'listSeriesSharingTags',
    permission: 'SystemAdmin',
    summary: 'List sharing tags of a series',
    params: SeriesId,
    query: record(shortListQuery),
    responses: { 200: SeriesTagPage },
    async handle({ params, viewer, ...input }, { sql }) {
      await findVisibleSeries(sql, viewer, params.id)
      return shortListResponse(input, await sharingTagsOf(sql, params.id))
    },
  }),
  route('PUT /series/{id}/sharing-tags', {
    operationId: 'replaceSeriesSharingTags',
    permission: 'SystemAdmin',
    summary: 'Replace the sharing tags of a series',
    params: SeriesId,
    body: body('SeriesSharingTagsUpdate', { sharingTagIds: list(uuid(), { maxItems: 500 }) }),
    responses: { 200: SeriesTagPage },
    handle: ({ params: { id }, body: { sharingTagIds }, viewer, request, reply }, { sql }) =>
      sql.begin(async tx => {
        const series = await findVisibleSeries(tx, viewer, id)
        const { count } = await tx`
          delete from series_sharing_tag
          where series_id = ${id} and tag_id <> all (${sharingTagIds}::uuid[])`
        const added = await attach(tx, id, sharingTagIds)
        if (count + added > 0) await publishChange(tx, series, changedFields)
        return shortListResponse({ request, reply }, await sharingTagsOf(tx, id))
      }),
  }),
  route('POST /series/{id}/sharing-tags', {
    operationId: 'addSeriesSharingTag',
    permission: 'SystemAdmin',
    summary: 'Add a sharing tag to a series',
    params: SeriesId,
    body: body('NewSeriesSharingTag', { sharingTagId: uuid() }),
    responses: { 201: SeriesTagPage },
    handle: ({ params: { id }, body: { sharingTagId }, viewer, request, reply }, { sql }) =>
      sql.begin(async tx => {
        const series = await findVisibleSeries(tx, viewer, id)
        const added = await attach(tx, id, [sharingTagId])
        if (added === 0) throw new Invalid('The series already has this tag')
        await publishChange(tx, series, changedFields)
        return shortListResponse({ request, reply }, await sharingTagsOf(tx, id))
      }),
  }),
  route('DELETE /series/{id}/sharing-tags/{tag_id}', {
    operationId: 'removeSeriesSharingTag',
    permission: 'SystemAdmin',
    summary: 'Remove a sharing tag from a series',
    params: SeriesTagId,
    responses: { 204: null },
    handle: ({ params: { id, tag_id }, viewer }, { sql }) =>
      sql.begin(async tx => {
        const series = await findVisibleSeries(tx, viewer, id)
        const [deleted] = await tx`
          delete from series_sharing_tag where series_id = ${id} and tag_id = ${tag_id}
          returning series_id`
        if (!deleted) throw new NotFound('The series does not have this tag')
        await publishChange(tx, series, changedFields)
      }),
  }),
]

const findVisibleSeries = (sql: Queryable, viewer: Viewer, id: string) =>
  requireOwner(sql, { viewer, owner: { kind: 'series', id } })

function sharingTagsOf(sql: Queryable, id: string) {
  return sql<Static<typeof SeriesTag>[]>`
    select t.id, t.name, t.description
    from series_sharing_tag s join sharing_tag t on t.id = s.tag_id
    where s.series_id = ${id} order by lower(t.name), t.id`
}

/** Returns how many of the tags are new to the series. Throws Invalid for an unknown tag. */
async function attach(tx: Transaction, id: string, tagIds: readonly string[]): Promise<number> {
  const rows = await tx`
    insert into series_sharing_tag (series_id, tag_id)
    select ${id}, tag from unnest(${tagIds as string[]}::uuid[]) as added (tag)
    on conflict do nothing returning tag_id`.catch(rethrowUnknownTag)
  return rows.length
}
