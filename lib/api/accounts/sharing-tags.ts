// Sharing tags: labels on series that rules of accounts speak of.
import { noSuchTag, rulesOf, SharingRule } from '../../auth/sharing-rule.ts'
import { standingOf } from '../../auth/user-record.ts'
import { Conflict, Invalid, NotFound } from '../../errors.ts'
import { ofSeries, tell } from '../../event/publish.ts'
import { paged, pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { answer, route } from '../../http/route.ts'
import { newId } from '../../id.ts'
import type { Sql } from '../../postgres/db.ts'
import {
  body,
  count,
  Id,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  text,
  timestamp,
  uuid,
} from '../../schema.ts'

const SharingTag = record(
  {
    id: uuid(),
    name: Type.String(),
    description: nullable(Type.String()),
    seriesCount: count({ description: 'Series that carry it.' }),
    userCount: count({ description: 'Users with a rule about it.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { component: 'SharingTag' },
)
type SharingTag = Static<typeof SharingTag>
const Name = text(200, { minLength: 1 })
const Description = nullable(text(2000))
const TagId = record({ tag_id: uuid() })
const OfOwner = record({ id: uuid(), tag_id: uuid() })

export const sharingTags = [
  route({
    method: 'GET',
    path: '/admin/sharing-tags',
    permission: 'SystemAdmin',
    summary: 'List sharing tags',
    description: 'By name.',
    query: record(pageQuery),
    responses: { 200: paged(SharingTag) },
    async handle({ query, request, reply }, { sql }) {
      const page = paging(query)
      const [[counted], data] = await Promise.all([
        sql<{ total: number }[]>`select count(*) as total from sharing_tag`,
        sql<SharingTag[]>`
          select ${columns(sql)} from sharing_tag t order by lower(t.name), t.id
          limit ${page.pageSize} offset ${page.offset}`,
      ])
      return pageOf({ request, reply, query }, { data, total: counted!.total, paging: page })
    },
  }),
  route({
    method: 'POST',
    path: '/admin/sharing-tags',
    permission: 'SystemAdmin',
    summary: 'Create a sharing tag',
    body: body({ name: Name, description: maybe(Description) }),
    responses: { 201: SharingTag },
    async handle({ body }, { sql }) {
      const id = newId()
      await sql`
        insert into sharing_tag (id, name, description)
        values (${id}, ${nameOf(body.name)}, ${body.description ?? null})`.catch(explain)
      return findTag(sql, id)
    },
  }),
  route({
    method: 'GET',
    path: '/admin/sharing-tags/{tag_id}',
    permission: 'SystemAdmin',
    summary: 'Sharing tag details',
    params: TagId,
    responses: { 200: SharingTag },
    handle: ({ params }, { sql }) => findTag(sql, params.tag_id),
  }),
  route({
    method: 'PATCH',
    path: '/admin/sharing-tags/{tag_id}',
    permission: 'SystemAdmin',
    summary: 'Update a sharing tag',
    params: TagId,
    body: body({ name: maybe(Name), description: maybe(Description) }),
    responses: { 200: SharingTag },
    async handle({ params, body: { name, description } }, { sql }) {
      await sql`
        update sharing_tag set
          name = coalesce(${name === undefined ? null : nameOf(name)}, name),
          description = ${description === undefined ? sql`description` : description},
          updated_at = now()
        where id = ${params.tag_id}`.catch(explain)
      return findTag(sql, params.tag_id)
    },
  }),
  route({
    method: 'DELETE',
    path: '/admin/sharing-tags/{tag_id}',
    permission: 'SystemAdmin',
    summary: 'Delete a sharing tag',
    description:
      'With the rules about it: what only an allow rule showed may be seen by all again.',
    params: TagId,
    responses: { 204: null },
    async handle({ params: { tag_id } }, { sql, identities }) {
      const rules = await sql.begin(async tx => {
        const rules = await tx<{ id: string }[]>`
          delete from account_sharing_tag where tag_id = ${tag_id} returning account_id as id`
        const series = await tx<{ id: string; libraryId: string }[]>`
          delete from series_sharing_tag t using series s
          where t.tag_id = ${tag_id} and s.id = t.series_id
          returning s.id, s.library_id as "libraryId"`
        const [tag] = await tx`delete from sharing_tag where id = ${tag_id} returning id`
        if (!tag) throw new NotFound('Sharing tag not found')
        await tell(tx, ofSeries('series_updated', series, { fields: ['sharing_tags'] }))
        return rules
      })
      for (const { id } of rules) identities.drop(id)
      return answer(204)
    },
  }),
  route({
    method: 'GET',
    path: '/users/{id}/sharing-tags',
    permission: 'SystemAdmin',
    summary: 'Sharing rules of a user',
    params: Id,
    responses: { 200: list(SharingRule) },
    async handle({ params }, { sql }) {
      await standingOf(sql, params.id)
      return rulesOf(sql, params.id)
    },
  }),
  route({
    method: 'PUT',
    path: '/users/{id}/sharing-tags',
    permission: 'SystemAdmin',
    summary: 'Set a sharing rule of a user',
    description:
      'A denied tag hides what carries it; with any allowed tag only what carries one of them is seen.',
    params: Id,
    body: body({ sharingTagId: uuid(), accessMode: oneOf(['allow', 'deny']) }),
    responses: { 200: SharingRule },
    async handle({ params: { id }, body: { sharingTagId, accessMode } }, { sql, identities }) {
      await standingOf(sql, id)
      await sql`
        insert into account_sharing_tag (id, account_id, tag_id, mode)
        values (${newId()}, ${id}, ${sharingTagId}, ${accessMode})
        on conflict (account_id, tag_id) do update set mode = excluded.mode`.catch(noSuchTag)
      identities.drop(id)
      const rule = (await rulesOf(sql, id)).find(rule => rule.sharingTagId === sharingTagId)
      if (!rule) throw new NotFound('Sharing tag not found')
      return rule
    },
  }),
  route({
    method: 'DELETE',
    path: '/users/{id}/sharing-tags/{tag_id}',
    permission: 'SystemAdmin',
    summary: 'Remove a sharing rule of a user',
    params: OfOwner,
    responses: { 204: null },
    async handle({ params: { id, tag_id } }, { sql, identities }) {
      const [gone] = await sql`
        delete from account_sharing_tag where account_id = ${id} and tag_id = ${tag_id}
        returning id`
      if (!gone) throw new NotFound('The user has no rule about this tag')
      identities.drop(id)
      return answer(204)
    },
  }),
  route({
    method: 'GET',
    path: '/user/sharing-tags',
    permission: 'auth',
    summary: 'Sharing rules of the caller',
    responses: { 200: list(SharingRule) },
    handle: ({ identity }, { sql }) => rulesOf(sql, identity.account.id),
  }),
]

async function findTag(sql: Sql, id: string): Promise<SharingTag> {
  const [tag] = await sql<SharingTag[]>`
    select ${columns(sql)} from sharing_tag t where t.id = ${id}`
  if (!tag) throw new NotFound('Sharing tag not found')
  return tag
}

function columns(sql: Sql) {
  return sql`
    t.id, t.name, t.description, t.created_at as "createdAt", t.updated_at as "updatedAt",
    (select count(*) from series_sharing_tag s where s.tag_id = t.id) as "seriesCount",
    (select count(*) from account_sharing_tag a where a.tag_id = t.id) as "userCount"`
}

function nameOf(text: string): string {
  const name = text.normalize('NFC').trim()
  if (name === '') throw new Invalid('The name is empty')
  return name
}

function explain(error: unknown): never {
  if ((error as { constraint_name?: string }).constraint_name === 'sharing_tag_name_unique')
    throw new Conflict('There is a sharing tag of this name', { cause: error })
  throw error
}
