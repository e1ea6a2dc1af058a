// Routes for members of collections and read lists, and for lists of groupings that contain a series or a book.

import type { Viewer } from '../../accounts/viewer.ts'
import { body, record } from '../../base/schema.ts'
import type { Deps } from '../../http/deps.ts'
import { pageQuery } from '../../http/pagination.ts'
import { type Route, route } from '../../http/route.ts'
import type { Transaction } from '../../store/postgres/db.ts'
import { addMembers, maxMembers, orderMembers, removeMembers } from '../grouping/members.ts'
import { changeMembers } from '../grouping/write.ts'
import { idList, kitOf, parseIds, type RouteKind } from './grouping-kind.ts'

export function memberRoutes(kind: RouteKind): Route[] {
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
export function containingRoutes(kind: RouteKind): Route[] {
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
        return await page(input, deps, input.query, { memberId: id })
      },
    }),
  ]
}
