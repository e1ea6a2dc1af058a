// Genres and tags: those of a series or book, and all there are.

import { type LabelKind, labelKey, labelKinds } from '../../catalog/label/label.ts'
import {
  changeLabels,
  labelNames,
  labelsOn,
  listLabels,
  removeLabel,
  removeUnused,
  withoutLabel,
} from '../../catalog/label/label-assignment.ts'
import { Label } from '../../catalog/label/label-record.ts'
import type { OwnerKind } from '../../catalog/metadata/external-reference.ts'
import { changing } from '../../catalog/metadata/metadata-change.ts'
import { checkStorable } from '../../catalog/metadata/metadata-values.ts'
import { paged, pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { answer, route } from '../../http/route.ts'
import { body, count, Id, list, record, Type, text, uuid } from '../../schema.ts'

const name = text(200, { minLength: 1 })
const owners = [
  { kind: 'series', path: '/series', read: 'SeriesRead', write: 'SeriesWrite' },
  { kind: 'book', path: '/books', read: 'BooksRead', write: 'BooksWrite' },
] as const

const locked = 'Scans leave them as they are from then on.'

function ofOwner(kind: LabelKind, whose: (typeof owners)[number]) {
  const plural = `${kind}s` as const
  const path = `${whose.path}/{id}/${plural}`
  const thing = whose.kind === 'series' ? 'series' : 'book'
  const all = record({ [plural]: list(Label) })
  const owner = (id: string) => ({ kind: whose.kind as OwnerKind, id })
  return [
    route({
      method: 'GET',
      path,
      permission: whose.read,
      summary: `The ${plural} of a ${thing}`,
      params: Id,
      responses: { 200: all },
      handle: async ({ params, viewer }, { sql }) => ({
        [plural]: await labelsOn(sql, viewer, { owner: owner(params.id), kind }),
      }),
    }),
    route({
      method: 'PUT',
      path,
      permission: whose.write,
      summary: `Replace the ${plural} of a ${thing}`,
      description: `A name that exists, in whatever case, is the same ${kind}. ${locked}`,
      params: Id,
      body: body({ [plural]: list(name, { maxItems: 500 }) }),
      responses: { 200: all },
      async handle({ params, body, viewer }, { sql }) {
        checkStorable(body)
        const wanted = labelNames(body[plural] as string[])
        const change = { owner: owner(params.id), kind, names: () => wanted }
        await changing(sql, tx => changeLabels(tx, viewer, change))
        return { [plural]: await labelsOn(sql, viewer, { owner: owner(params.id), kind }) }
      },
    }),
    route({
      method: 'POST',
      path,
      permission: whose.write,
      summary: `Put a ${kind} on a ${thing}`,
      description: `A name that exists, in whatever case, is the same ${kind}. ${locked}`,
      params: Id,
      body: body({ name }),
      responses: { 200: Label },
      async handle({ params, body, viewer }, { sql }) {
        checkStorable(body)
        const [wanted] = labelNames([body.name])
        const names = (before: string[]) => labelNames([...before, wanted!])
        return await changing(sql, async tx => {
          await changeLabels(tx, viewer, { owner: owner(params.id), kind, names })
          const all = await labelsOn(tx, viewer, { owner: owner(params.id), kind })
          return all.find(label => labelKey(label.name) === labelKey(wanted!))!
        })
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/{${kind}_id}`,
      permission: whose.write,
      summary: `Take a ${kind} off a ${thing}`,
      params: record({ id: uuid(), [`${kind}_id`]: uuid() }),
      responses: { 204: null },
      async handle({ params, viewer }, { sql }) {
        const id = (params as Record<string, string>)[`${kind}_id`]!
        await changing(sql, async tx => {
          const names = await withoutLabel(tx, kind, id)
          await changeLabels(tx, viewer, { owner: owner(params.id as string), kind, names })
        })
        return answer(204)
      },
    }),
  ]
}

function ofAll(kind: LabelKind) {
  const plural = `${kind}s` as const
  return [
    route({
      method: 'GET',
      path: `/${plural}`,
      permission: 'SeriesRead',
      summary: `All ${plural}, by name`,
      description: 'With the number of series under each that the caller sees.',
      query: record(pageQuery),
      responses: { 200: paged(Label) },
      async handle({ query, viewer, request, reply }, { sql }) {
        const asked = paging(query)
        const found = await listLabels(sql, viewer, { kind, ...asked })
        return pageOf({ request, reply, query }, { ...found, paging: asked })
      },
    }),
    route({
      method: 'DELETE',
      path: `/${plural}/{${kind}_id}`,
      permission: 'SystemAdmin',
      summary: `Remove a ${kind} from all series and books`,
      description: `Books that named it keep their other ${plural} whatever their files say.`,
      params: record({ [`${kind}_id`]: uuid() }),
      responses: { 204: null },
      async handle({ params }, { sql }) {
        await removeLabel(sql, kind, (params as Record<string, string>)[`${kind}_id`]!)
        return answer(204)
      },
    }),
    route({
      method: 'POST',
      path: `/${plural}/cleanup`,
      permission: 'SystemAdmin',
      summary: `Remove the ${plural} that nothing has`,
      responses: { 200: record({ deletedCount: count(), deletedNames: list(Type.String()) }) },
      async handle(_input, { sql }) {
        const deletedNames = await removeUnused(sql, kind)
        return { deletedCount: deletedNames.length, deletedNames }
      },
    }),
  ]
}

export const labels = labelKinds.flatMap(kind => [
  ...owners.flatMap(whose => ofOwner(kind, whose)),
  ...ofAll(kind),
])
