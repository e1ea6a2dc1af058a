// Routes shared by collections and read lists: the list by name, single ones, and their changes.

import { body, maybe, name, optional, patchBody, record, Type, text } from '../../base/schema.ts'
import { pageQuery } from '../../http/pagination.ts'
import { type Route, route } from '../../http/route.ts'
import { createGrouping, deleteGrouping, updateGrouping } from '../grouping/write.ts'
import { idList, kitOf, type RouteKind } from './grouping-kind.ts'

const maxNameLength = 200
const maxSummaryLength = 5_000

export function readRoutes(kind: RouteKind): Route[] {
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
      handle: (input, deps) => page(input, deps, input.query),
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

export function writeRoutes(kind: RouteKind): Route[] {
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
