// Genres and tags: of a series or book, and the lists of all of them.

import {
  body,
  component,
  count,
  list,
  maybe,
  name,
  record,
  Type,
  uuid,
} from '../../../base/schema.ts'
import { paged, pageQuery, pageResponse, paging } from '../../../http/pagination.ts'
import { ofBook, ofSeries } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { nameQuery, nameRequestOf } from '../../../list/routes/names.ts'
import { checkStorable } from '../../../media/metadata/user-input.ts'
import { retryOnDeadlock } from '../../../store/postgres/retry-on-deadlock.ts'
import type { OwnerKind } from '../../owner.ts'
import { Label, type LabelKind, labelKey, labelKinds, normalizeLabelNames } from '../label.ts'
import { labelRemover, labelsOfOwner, updateLabels } from '../label-assignment.ts'
import { deleteLabel, deleteUnusedLabels } from '../label-delete.ts'
import { listLabels } from '../label-list.ts'

const LabelName = name(200, { description: 'Name of the label.' })
const owners = [ofSeries, ofBook]

const lockNote = 'The list is locked against changes by scans.'
const NewLabel = body('NewLabel', { name: LabelName })

const labelNames = { genre: 'Genre', tag: 'Tag' } as const

function ownerRoutes(kind: LabelKind, owner: (typeof owners)[number]) {
  const { kind: ownerKind, ownerName, params, read, write } = owner
  const plural = `${kind}s` as const
  const labelName = labelNames[kind]
  const path = `${owner.path}/${plural}`
  const Labels = component(`${labelName}List`, { [plural]: list(Label) })
  const ownerOf = (id: string) => ({ kind: ownerKind as OwnerKind, id })
  return [
    route(`GET ${path}`, {
      operationId: `list${ownerName}${labelName}s`,
      permission: read,
      summary: `List ${plural} of a ${ownerKind}`,
      params,
      responses: { 200: Labels },
      handle: async ({ params, viewer }, { sql }) => ({
        [plural]: await labelsOfOwner(sql, viewer, { owner: ownerOf(params.id), kind }),
      }),
    }),
    route(`PUT ${path}`, {
      operationId: `replace${ownerName}${labelName}s`,
      permission: write,
      summary: `Replace the ${plural} of a ${ownerKind}`,
      description: `Names that differ only in case are one ${kind}; each ${ownerKind} shows its own spelling. ${lockNote}`,
      params,
      body: body(`${labelName}ListUpdate`, { [plural]: list(LabelName, { maxItems: 500 }) }),
      responses: { 200: Labels },
      async handle({ params, body, viewer }, { sql }) {
        checkStorable(body)
        const names = normalizeLabelNames(body[plural] as string[])
        const update = { owner: ownerOf(params.id), kind, names: () => names }
        await retryOnDeadlock(sql, tx => updateLabels(tx, viewer, update))
        return { [plural]: await labelsOfOwner(sql, viewer, { owner: ownerOf(params.id), kind }) }
      },
    }),
    route(`POST ${path}`, {
      operationId: `add${ownerName}${labelName}`,
      permission: write,
      summary: `Add a ${kind} to a ${ownerKind}`,
      description: `Names that differ only in case are one ${kind}; each ${ownerKind} shows its own spelling. ${lockNote}`,
      params,
      body: NewLabel,
      responses: { 200: Label },
      async handle({ params, body, viewer }, { sql }) {
        checkStorable(body)
        const [added] = normalizeLabelNames([body.name])
        const names = (before: string[]) => normalizeLabelNames([...before, added!])
        return await retryOnDeadlock(sql, async tx => {
          await updateLabels(tx, viewer, { owner: ownerOf(params.id), kind, names })
          const labels = await labelsOfOwner(tx, viewer, { owner: ownerOf(params.id), kind })
          return labels.find(label => labelKey(label.name) === labelKey(added!))!
        })
      },
    }),
    route(`DELETE ${path}/{${kind}_id}`, {
      operationId: `remove${ownerName}${labelName}`,
      permission: write,
      summary: `Remove a ${kind} from a ${ownerKind}`,
      params: record({ ...params.properties, ...labelId(kind) }),
      responses: { 204: null },
      async handle({ params, viewer }, { sql }) {
        const { id, [`${kind}_id`]: labelId } = params as Record<string, string>
        await retryOnDeadlock(sql, async tx => {
          const names = await labelRemover(tx, kind, labelId!)
          await updateLabels(tx, viewer, { owner: ownerOf(id!), kind, names })
        })
      },
    }),
  ]
}

const labelId = (kind: LabelKind) => ({
  [`${kind}_id`]: uuid({ description: `${labelNames[kind]} id.` }),
})

const onlyUsed = maybe(
  Type.Boolean({
    description: 'Only those that a visible series has; others occur for administrators.',
  }),
)

const DeletedLabels = component('DeletedLabels', {
  deletedCount: count(),
  deletedNames: list(Type.String()),
})

function catalogRoutes(kind: LabelKind) {
  const plural = `${kind}s` as const
  const labelName = labelNames[kind]
  return [
    route(`GET /${plural}`, {
      operationId: `list${labelName}s`,
      permission: 'SeriesRead',
      cost: 'list',
      summary: `List all ${plural}`,
      description: 'Each with its number of visible series; without `sort` by name.',
      query: record({ ...pageQuery, ...nameQuery, used: onlyUsed }),
      responses: { 200: paged(Label) },
      async handle({ query, viewer, request, reply }, db) {
        const page = paging(query)
        const names = { ...nameRequestOf(query), onlyUsed: query.used, ...page }
        const labels = await listLabels(db, viewer, { kind, ...names })
        return pageResponse({ request, reply, query }, { ...labels, paging: page })
      },
    }),
    route(`DELETE /${plural}/{${kind}_id}`, {
      operationId: `delete${labelName}`,
      permission: 'SystemAdmin',
      summary: `Delete a ${kind} from all series and books`,
      description: `The other ${plural} of books that had it are locked against changes by scans.`,
      params: record(labelId(kind)),
      responses: { 204: null },
      handle: ({ params }, { sql }) =>
        deleteLabel(sql, kind, (params as Record<string, string>)[`${kind}_id`]!),
    }),
    route(`POST /${plural}/cleanup`, {
      operationId: `deleteUnused${labelName}s`,
      permission: 'SystemAdmin',
      summary: `Delete unused ${plural}`,
      responses: { 200: DeletedLabels },
      async handle(_input, { sql }) {
        const deletedNames = await deleteUnusedLabels(sql, kind)
        return { deletedCount: deletedNames.length, deletedNames }
      },
    }),
  ]
}

export const labels = labelKinds.flatMap(kind => [
  ...owners.flatMap(owner => ownerRoutes(kind, owner)),
  ...catalogRoutes(kind),
])
