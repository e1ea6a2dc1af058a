// Sharing tags: labels on series for visibility rules of accounts (allow or deny).
import { Invalid, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  body,
  component,
  count,
  maybe,
  name,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  text,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import {
  paged,
  pagedResponse,
  pageQuery,
  shortListQuery,
  shortListResponse,
} from '../../http/pagination.ts'
import { UserId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import { publish, seriesEvents } from '../../store/event/publish.ts'
import type { Sql } from '../../store/postgres/db.ts'
import { nameTaken } from '../../store/postgres/name-taken.ts'
import { accessModes, listSharingRules, rethrowUnknownTag, SharingRule } from '../sharing-rule.ts'
import { findRoleAndPermissions } from '../user-record.ts'

const SharingTag = component('SharingTag', {
  id: uuid(),
  name: Type.String(),
  description: nullable(Type.String()),
  seriesCount: count({ description: 'Number of series with the tag.' }),
  userCount: count({ description: 'Number of users with a rule for the tag.' }),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
type SharingTag = Static<typeof SharingTag>
const Name = name(200, { description: 'Unique name, case-insensitive.' })
const Description = nullable(text(2000))
const tag_id = uuid({ description: 'Sharing tag id.' })
const TagId = record({ tag_id })
const UserTagId = record({ ...UserId.properties, tag_id })
const AccessMode = oneOf(accessModes, {
  component: 'AccessMode',
  description: 'Whether the rule shows or hides series with the tag.',
})

export const sharingTags = [
  route('GET /admin/sharing-tags', {
    operationId: 'listSharingTags',
    permission: 'SystemAdmin',
    summary: 'List sharing tags',
    description: 'Sorted by name.',
    query: record(pageQuery),
    responses: { 200: paged(SharingTag) },
    handle: (input, { sql }) =>
      pagedResponse(input, async ({ offset, pageSize }) => {
        const [[totals], data] = await Promise.all([
          sql<{ total: number }[]>`select count(*) as total from sharing_tag`,
          sql<SharingTag[]>`
            select ${columns(sql)} from sharing_tag t order by lower(t.name), t.id
            limit ${pageSize} offset ${offset}`,
        ])
        return { data: [...data], total: totals!.total }
      }),
  }),
  route('POST /admin/sharing-tags', {
    operationId: 'createSharingTag',
    permission: 'SystemAdmin',
    summary: 'Create a sharing tag',
    body: body('SharingTagCreate', { name: Name, description: maybe(Description) }),
    responses: { 201: SharingTag },
    async handle({ body }, { sql }) {
      const id = newId()
      await sql`
        insert into sharing_tag (id, name, description)
        values (${id}, ${parseName(body.name)}, ${body.description ?? null})`.catch(rethrowTaken)
      return findTag(sql, id)
    },
  }),
  route('GET /admin/sharing-tags/{tag_id}', {
    operationId: 'getSharingTag',
    permission: 'SystemAdmin',
    summary: 'Get a sharing tag',
    params: TagId,
    responses: { 200: SharingTag },
    handle: ({ params }, { sql }) => findTag(sql, params.tag_id),
  }),
  route('PATCH /admin/sharing-tags/{tag_id}', {
    operationId: 'updateSharingTag',
    permission: 'SystemAdmin',
    summary: 'Update a sharing tag',
    params: TagId,
    body: body('SharingTagUpdate', { name: maybe(Name), description: maybe(Description) }),
    responses: { 200: SharingTag },
    async handle({ params, body: { name, description } }, { sql }) {
      await sql`
        update sharing_tag set
          name = coalesce(${name === undefined ? null : parseName(name)}, name),
          description = ${description === undefined ? sql`description` : description},
          updated_at = now()
        where id = ${params.tag_id}`.catch(rethrowTaken)
      return findTag(sql, params.tag_id)
    },
  }),
  route('DELETE /admin/sharing-tags/{tag_id}', {
    operationId: 'deleteSharingTag',
    permission: 'SystemAdmin',
    summary: 'Delete a sharing tag',
    description:
      'Also deletes its rules, which can reveal series to users who could not see them before.',
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
        await publish(tx, seriesEvents('series_updated', series, { fields: ['sharing_tags'] }))
        return rules
      })
      for (const { id } of rules) identities.invalidate(id)
      return respond(204)
    },
  }),
  route('GET /users/{id}/sharing-tags', {
    operationId: 'listUserSharingRules',
    permission: 'SystemAdmin',
    summary: 'List sharing rules of a user',
    params: UserId,
    query: record(shortListQuery),
    responses: { 200: paged(SharingRule) },
    async handle({ params, ...input }, { sql }) {
      await findRoleAndPermissions(sql, params.id)
      return shortListResponse(input, await listSharingRules(sql, params.id))
    },
  }),
  route('PUT /users/{id}/sharing-tags', {
    operationId: 'setUserSharingRule',
    permission: 'SystemAdmin',
    summary: 'Set a sharing rule of a user',
    description:
      'A denied tag hides its series; if any tag is allowed, only series with an allowed tag are visible.',
    params: UserId,
    body: body('SharingRuleUpdate', {
      sharingTagId: uuid({ description: 'Sharing tag id.' }),
      accessMode: AccessMode,
    }),
    responses: { 200: SharingRule },
    async handle({ params: { id }, body: { sharingTagId, accessMode } }, { sql, identities }) {
      await findRoleAndPermissions(sql, id)
      await sql`
        insert into account_sharing_tag (id, account_id, tag_id, mode)
        values (${newId()}, ${id}, ${sharingTagId}, ${accessMode})
        on conflict (account_id, tag_id) do update set mode = excluded.mode`.catch(
        rethrowUnknownTag,
      )
      identities.invalidate(id)
      const rule = (await listSharingRules(sql, id)).find(
        rule => rule.sharingTagId === sharingTagId,
      )
      if (!rule) throw new NotFound('Sharing tag not found')
      return rule
    },
  }),
  route('DELETE /users/{id}/sharing-tags/{tag_id}', {
    operationId: 'deleteUserSharingRule',
    permission: 'SystemAdmin',
    summary: 'Delete a sharing rule of a user',
    params: UserTagId,
    responses: { 204: null },
    async handle({ params: { id, tag_id } }, { sql, identities }) {
      const [deleted] = await sql`
        delete from account_sharing_tag where account_id = ${id} and tag_id = ${tag_id}
        returning id`
      if (!deleted) throw new NotFound('The user has no rule for this tag')
      identities.invalidate(id)
    },
  }),
  route('GET /user/sharing-tags', {
    operationId: 'listOwnSharingRules',
    permission: 'auth',
    summary: 'List sharing rules of the current user',
    query: record(shortListQuery),
    responses: { 200: paged(SharingRule) },
    handle: async ({ identity, ...input }, { sql }) =>
      shortListResponse(input, await listSharingRules(sql, identity.account.id)),
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

function parseName(text: string): string {
  const name = text.normalize('NFC').trim()
  if (name === '') throw new Invalid('The name is empty', { reason: 'name_empty' })
  return name
}

const rethrowTaken = nameTaken(
  'sharing_tag_name_unique',
  'A sharing tag with this name already exists',
)
