// Routes shared by collections and read lists: the list by name, single ones and their changes, their members, and the
// groupings that contain a series or a book.
import type { Viewer } from '../../accounts/viewer.ts'
import { body, maybe, name, optional, patchBody, record, Type, text } from '../../base/schema.ts'
import type { Deps } from '../../http/deps.ts'
import { pageQuery } from '../../http/pagination.ts'
import { type Route, route } from '../../http/route.ts'
import type { Transaction } from '../../store/postgres/db.ts'
import { addMembers, maxMembers, orderMembers, removeMembers } from '../grouping/members.ts'
import { changeMembers, createGrouping, deleteGrouping, updateGrouping } from '../grouping/write.ts'
import { idList, kitOf, parseIds, type RouteKind } from './grouping-kind.ts'

export const groupingRoutes = (kind: RouteKind): Route[] => [
  ...readRoutes(kind),
  ...writeRoutes(kind),
  ...memberRoutes(kind),
  ...containingRoutes(kind),
]

const maxNameLength = 200
const maxSummaryLength = 5_000

function readRoutes(kind: RouteKind): Route[] {
  const { noun, one, many, path, params, item, read } = kind
  const { Page, page, find } = kitOf(kind)
  return [
    route(`GET ${path}`, {
      operationId: `list${many}`,
      permission: read,
      summary: `List ${noun}s`,
      description: `Sorted by name. A ${noun} in which the caller sees nothing is left out, unless nothing is hidden from the caller.`,
      query: record({
        ...pageQuery,
        search: maybe(
          text(maxNameLength, { description: 'Limits the list to names that contain this text.' }),
        ),
      }),
      responses: { 200: Page },
      handle: (input, deps) => page(input, deps),
    }),
    route(`GET ${path}/{id}`, {
      operationId: `get${one}`,
      permission: read,
      summary: `Get a ${noun}`,
      params,
      responses: { 200: item },
      cost: 'list',
      handle: (input, deps) => find(input, deps, input.params.id),
    }),
  ]
}

function writeRoutes(kind: RouteKind): Route[] {
  const { grouping, noun, one, path, params, idsKey, item, write, remove } = kind
  const { changed, changeOf } = kitOf(kind)
  const Name = name(maxNameLength, {
    description: 'Unique, ignoring case, among those that the caller sees.',
  })
  const settings = {
    summary: optional(text(maxSummaryLength)),
    ordered: maybe(Type.Boolean({ description: 'Whether the order is chosen by hand.' })),
    ...kind.settings,
    [idsKey]: maybe(
      idList('Members in order; a change replaces all members that the caller sees.'),
    ),
  }
  return [
    route(`POST ${path}`, {
      operationId: `create${one}`,
      permission: write,
      summary: `Create a ${noun}`,
      body: body(`${one}Create`, { name: Name, ...settings }),
      responses: { 201: item },
      async handle(input, { sql }) {
        const change = changeOf(input.body as Record<string, unknown>)
        const id = await createGrouping(sql, input.viewer, grouping, change)
        return await changed(input, { sql }, id)
      },
    }),
    route(`PATCH ${path}/{id}`, {
      operationId: `update${one}`,
      permission: write,
      summary: `Update a ${noun}`,
      description: 'Absent fields are unchanged.',
      params,
      body: patchBody(`${one}Update`, { name: maybe(Name), ...settings }, item),
      responses: { 200: item },
      async handle(input, { sql }) {
        const { viewer, params } = input
        const change = changeOf(input.body as Record<string, unknown>)
        await updateGrouping(sql, viewer, grouping, { id: params.id, change })
        return await changed(input, { sql }, params.id)
      },
    }),
    route(`DELETE ${path}/{id}`, {
      operationId: `delete${one}`,
      permission: remove,
      summary: `Delete a ${noun}`,
      description: `Its ${grouping.contents} are not changed.`,
      params,
      responses: { 204: null },
      handle: ({ viewer, params }, { sql }) => deleteGrouping(sql, viewer, grouping, params.id),
    }),
  ]
}

function memberRoutes(kind: RouteKind): Route[] {
  const { grouping, one, noun, path, params, memberPath, memberParams, idsKey, item, write } = kind
  const { changed } = kitOf(kind)
  const alter = async (
    { viewer, id }: { viewer: Viewer; id: string },
    { sql }: Pick<Deps, 'sql'>,
    memberIds: readonly string[],
    change: typeof addMembers,
  ) =>
    await changeMembers(sql, viewer, grouping, {
      id,
      change: (tx: Transaction) => change(tx, viewer, grouping, { id, memberIds }),
    })
  const idsOf = (input: object) => parseIds((input as Record<string, unknown>)[idsKey], idsKey)
  return [
    route(`POST ${path}/{id}${memberPath}`, {
      operationId: `addTo${one}`,
      permission: write,
      summary: `Add ${grouping.contents} to a ${noun}`,
      description: `Appended in this order; existing members stay where they are. The limit is ${maxMembers}.`,
      params,
      body: body(`${one}Addition`, { [idsKey]: idList(`Ids of the ${grouping.contents}.`) }),
      responses: { 200: item },
      async handle(input, { sql }) {
        const { id } = input.params
        await alter({ ...input, id }, { sql }, idsOf(input.body), addMembers)
        return await changed(input, { sql }, id)
      },
    }),
    route(`PUT ${path}/{id}${memberPath}`, {
      operationId: `order${one}`,
      permission: write,
      summary: `Set the order of a ${noun}`,
      description: `The listed ${grouping.contents} exchange their places to get this order; others stay where they are. Ids of others have no effect.`,
      params,
      body: body(`${one}Order`, { [idsKey]: idList('Ids in the new order.') }),
      responses: { 204: null },
      handle: (input, { sql }) =>
        alter({ ...input, id: input.params.id }, { sql }, idsOf(input.body), orderMembers),
    }),
    route(`DELETE ${path}/{id}${memberPath}/{member_id}`, {
      operationId: `removeFrom${one}`,
      permission: write,
      summary: `Remove a member from a ${noun}`,
      description: 'Also succeeds if it is not a member.',
      params: record({ ...params.properties, member_id: memberParams.properties.id }),
      responses: { 204: null },
      async handle(input, { sql }) {
        const { id, member_id } = input.params
        await alter({ ...input, id }, { sql }, [member_id], removeMembers)
      },
    }),
  ]
}

/** Lists the groupings that contain a series or a book. */
function containingRoutes(kind: RouteKind): Route[] {
  const { many, noun, path, memberPath, memberParams, read, readMembers } = kind
  const { Page, page } = kitOf(kind)
  return [
    route(`GET ${memberPath}/{id}${path}`, {
      operationId: `list${many}Of${memberPath === '/series' ? 'Series' : 'Book'}`,
      permission: { all: [readMembers], any: [read] },
      summary: `List ${noun}s that contain a ${memberPath === '/series' ? 'series' : 'book'}`,
      description: 'Hand-picked only, sorted by name.',
      params: memberParams,
      query: record(pageQuery),
      responses: { 200: Page },
      async handle(input, deps) {
        const { id } = input.params
        await kind.requireMember(deps.sql, input.viewer, id)
        return await page(input, deps, { memberId: id })
      },
    }),
  ]
}
