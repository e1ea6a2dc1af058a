// Ids of series and books at services elsewhere.

import { requireBook } from '../../catalog/book/book-record.ts'
import { holdBook } from '../../catalog/metadata/book-metadata.ts'
import { tellChange } from '../../catalog/metadata/change-events.ts'
import {
  ExternalId,
  externalIds as idsOf,
  putExternalId,
  removeExternal,
} from '../../catalog/metadata/external-reference.ts'
import { changing } from '../../catalog/metadata/metadata-change.ts'
import {
  checkStorable,
  field,
  plainText,
  webAddress,
  wording,
} from '../../catalog/metadata/metadata-values.ts'
import { claimExternalIds, holdSeries } from '../../catalog/metadata/series-metadata.ts'
import { requireSeries } from '../../catalog/series/series-record.ts'
import { answer, route } from '../../http/route.ts'
import { body, Id, list, record, text, uuid } from '../../schema.ts'

const owners = [
  {
    kind: 'series',
    path: '/series/{id}/external-ids',
    read: 'SeriesRead',
    write: 'SeriesWrite',
    require: requireSeries,
    hold: holdSeries,
  },
  {
    kind: 'book',
    path: '/books/{id}/external-ids',
    read: 'BooksRead',
    write: 'BooksWrite',
    require: requireBook,
    hold: holdBook,
  },
] as const

const NewId = body({
  source: text(200, { minLength: 1, description: 'The service, for example `plugin:<name>`.' }),
  externalId: text(500, { minLength: 1 }),
  externalUrl: field.text(2000, 'http or https.'),
  metadataHash: field.text(200),
})

export const externalIds = owners.flatMap(({ kind, path, read, write, require, hold }) => [
  route({
    method: 'GET',
    path,
    permission: read,
    summary: `Ids of a ${kind} at services elsewhere`,
    params: Id,
    responses: { 200: record({ externalIds: list(ExternalId) }) },
    async handle({ params: { id }, viewer }, { sql }) {
      await require(sql, viewer, id)
      return { externalIds: (await idsOf(sql, kind, [id])).get(id) ?? [] }
    },
  }),
  route({
    method: 'POST',
    path,
    permission: write,
    summary: `Set the id of a ${kind} at a service`,
    description: 'One for each source: another one takes the place of the first and keeps its id.',
    params: Id,
    body: NewId,
    responses: { 200: ExternalId },
    async handle({ params: { id }, body, viewer }, { sql }) {
      checkStorable(body)
      const given = {
        source: wording(body.source, 'body/source'),
        externalId: wording(body.externalId, 'body/externalId'),
        externalUrl: body.externalUrl ? webAddress(body.externalUrl, 'body/externalUrl') : null,
        metadataHash: body.metadataHash ? plainText(body.metadataHash) : null,
      }
      return await changing(sql, async tx => {
        const owner = await hold(tx, viewer, id)
        if (kind === 'series') await claimExternalIds(tx, owner)
        const put = await putExternalId(tx, { kind, id }, given)
        await tellChange(tx, owner, ['external_ids'])
        return put
      })
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/{external_id_id}`,
    permission: write,
    summary: `Remove an id of a ${kind}`,
    params: record({ id: uuid(), external_id_id: uuid() }),
    responses: { 204: null },
    async handle({ params: { id, external_id_id: name }, viewer }, { sql }) {
      await changing(sql, async tx => {
        const owner = await hold(tx, viewer, id)
        await removeExternal(tx, { kind, id }, { table: 'external_id', name })
        if (kind === 'series') await claimExternalIds(tx, owner)
        await tellChange(tx, owner, ['external_ids'])
      })
      return answer(204)
    },
  }),
])
