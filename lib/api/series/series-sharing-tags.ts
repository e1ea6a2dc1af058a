// Which sharing tags a series carries.
import { noSuchTag } from '../../auth/sharing-rule.ts'
import { seesSeries, type Viewer } from '../../auth/viewer.ts'
import { tellChange } from '../../catalog/metadata/change-events.ts'
import { Invalid, NotFound } from '../../errors.ts'
import { answer, route } from '../../http/route.ts'
import type { Sql, Transaction } from '../../postgres/db.ts'
import { body, Id, list, nullable, record, type Static, Type, uuid } from '../../schema.ts'

const Carried = list(
  record(
    { id: uuid(), name: Type.String(), description: nullable(Type.String()) },
    { component: 'CarriedSharingTag' },
  ),
)
const changed = ['sharing_tags']
const OfSeries = record({ id: uuid(), tag_id: uuid() })

export const seriesSharingTags = [
  route({
    method: 'GET',
    path: '/series/{id}/sharing-tags',
    permission: 'SystemAdmin',
    summary: 'Sharing tags of a series',
    params: Id,
    responses: { 200: Carried },
    async handle({ params, viewer }, { sql }) {
      await mustSee(sql, viewer, params.id)
      return carriedBy(sql, params.id)
    },
  }),
  route({
    method: 'PUT',
    path: '/series/{id}/sharing-tags',
    permission: 'SystemAdmin',
    summary: 'Replace the sharing tags of a series',
    params: Id,
    body: body({ sharingTagIds: list(uuid(), { maxItems: 500 }) }),
    responses: { 200: Carried },
    handle: ({ params: { id }, body: { sharingTagIds }, viewer }, { sql }) =>
      sql.begin(async tx => {
        const series = await mustSee(tx, viewer, id)
        const { count } = await tx`
          delete from series_sharing_tag
          where series_id = ${id} and tag_id <> all (${sharingTagIds}::uuid[])`
        const fresh = await attach(tx, id, sharingTagIds)
        if (count + fresh > 0) await tellChange(tx, series, changed)
        return carriedBy(tx, id)
      }),
  }),
  route({
    method: 'POST',
    path: '/series/{id}/sharing-tags',
    permission: 'SystemAdmin',
    summary: 'Attach a sharing tag to a series',
    params: Id,
    body: body({ sharingTagId: uuid() }),
    responses: { 201: Carried },
    handle: ({ params: { id }, body: { sharingTagId }, viewer }, { sql }) =>
      sql.begin(async tx => {
        const series = await mustSee(tx, viewer, id)
        const fresh = await attach(tx, id, [sharingTagId])
        if (fresh === 0) throw new Invalid('The series carries this tag already')
        await tellChange(tx, series, changed)
        return carriedBy(tx, id)
      }),
  }),
  route({
    method: 'DELETE',
    path: '/series/{id}/sharing-tags/{tag_id}',
    permission: 'SystemAdmin',
    summary: 'Detach a sharing tag from a series',
    params: OfSeries,
    responses: { 204: null },
    async handle({ params: { id, tag_id }, viewer }, { sql }) {
      await sql.begin(async tx => {
        const series = await mustSee(tx, viewer, id)
        const [gone] = await tx`
          delete from series_sharing_tag where series_id = ${id} and tag_id = ${tag_id}
          returning series_id`
        if (!gone) throw new NotFound('The series does not carry this tag')
        await tellChange(tx, series, changed)
      })
      return answer(204)
    },
  }),
]

type Db = Sql | Transaction

async function mustSee(sql: Db, viewer: Viewer, id: string) {
  const [seen] = await sql<{ id: string; libraryId: string }[]>`
    select s.id, s.library_id as "libraryId"
    from series s where s.id = ${id} and ${seesSeries(sql, viewer)}`
  if (!seen) throw new NotFound('Series not found')
  return seen
}

function carriedBy(sql: Db, id: string) {
  return sql<Static<typeof Carried>>`
    select t.id, t.name, t.description
    from series_sharing_tag s join sharing_tag t on t.id = s.tag_id
    where s.series_id = ${id} order by lower(t.name), t.id`
}

/** How many of the tags were not carried yet. Throws Invalid for an unknown one. */
async function attach(tx: Transaction, id: string, tagIds: readonly string[]): Promise<number> {
  const rows = await tx`
    insert into series_sharing_tag (series_id, tag_id)
    select ${id}, tag from unnest(${tagIds as string[]}::uuid[]) as wanted (tag)
    on conflict do nothing returning tag_id`.catch(noSuchTag)
  return rows.length
}
