// Links of series and books to pages elsewhere.

import { requireBook } from '../../catalog/book/book-record.ts'
import { holdBook } from '../../catalog/metadata/book-metadata.ts'
import { tellChange } from '../../catalog/metadata/change-events.ts'
import {
  ExternalLink,
  externalLinks as linksOf,
  putExternalLink,
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
import { holdSeries } from '../../catalog/metadata/series-metadata.ts'
import { requireSeries } from '../../catalog/series/series-record.ts'
import { answer, route } from '../../http/route.ts'
import { body, Id, list, record, text, uuid } from '../../schema.ts'

const owners = [
  {
    kind: 'series',
    path: '/series/{id}/external-links',
    name: 'link_id',
    read: 'SeriesRead',
    write: 'SeriesWrite',
    require: requireSeries,
    hold: holdSeries,
  },
  {
    kind: 'book',
    path: '/books/{id}/external-links',
    name: 'source',
    read: 'BooksRead',
    write: 'BooksWrite',
    require: requireBook,
    hold: holdBook,
  },
] as const

const NewLink = body({
  sourceName: text(200, { minLength: 1, aliases: ['source'] }),
  url: text(2000, { minLength: 1, description: 'http or https.' }),
  externalId: field.text(500),
})

export const externalLinks = owners.flatMap(({ kind, path, name, read, write, require, hold }) => [
  route({
    method: 'GET',
    path,
    permission: read,
    summary: `Links of a ${kind}`,
    params: Id,
    responses: { 200: record({ links: list(ExternalLink) }) },
    async handle({ params: { id }, viewer }, { sql }) {
      await require(sql, viewer, id)
      return { links: (await linksOf(sql, kind, [id])).get(id) ?? [] }
    },
  }),
  route({
    method: 'POST',
    path,
    permission: write,
    summary: `Set the link of a ${kind} to a source`,
    description: 'One for each source: another one takes the place of the first and keeps its id.',
    params: Id,
    body: NewLink,
    responses: { 200: ExternalLink },
    async handle({ params: { id }, body, viewer }, { sql }) {
      checkStorable(body)
      const given = {
        sourceName: wording(body.sourceName, 'body/sourceName'),
        url: webAddress(body.url, 'body/url'),
        externalId: body.externalId ? plainText(body.externalId) : null,
      }
      return await changing(sql, async tx => {
        const owner = await hold(tx, viewer, id)
        const put = await putExternalLink(tx, { kind, id }, given)
        await tellChange(tx, owner, ['external_links'])
        return put
      })
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/{${name}}`,
    permission: write,
    summary: `Remove a link of a ${kind}`,
    description: 'It is told by its id or by its source.',
    params: record({ id: uuid(), [name]: text(200) }),
    responses: { 204: null },
    async handle({ params, viewer }, { sql }) {
      const { id, [name]: which } = params as Record<string, string>
      await changing(sql, async tx => {
        const owner = await hold(tx, viewer, id!)
        await removeExternal(tx, { kind, id: id! }, { table: 'link', name: which! })
        await tellChange(tx, owner, ['external_links'])
      })
      return answer(204)
    },
  }),
])
