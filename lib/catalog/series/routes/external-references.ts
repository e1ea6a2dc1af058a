// External references of series and books: ids on other services, links to web pages; for series also ratings.

import {
  body,
  component,
  list,
  name,
  optional,
  record,
  type Static,
  type TSchema,
  Type,
  text,
  uuid,
} from '../../../base/schema.ts'
import { ofBook, ofSeries } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import {
  checkStorable,
  input,
  optionalWebUrl,
  parseWebUrl,
  requiredText,
  trimmedText,
  webUrl,
} from '../../../media/metadata/user-input.ts'
import type { Queryable, Transaction } from '../../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../../store/postgres/retry-on-deadlock.ts'
import { requireBook } from '../../book/book-record.ts'
import { lockBookRow } from '../../metadata/book-metadata.ts'
import { publishChange } from '../../metadata/change-events.ts'
import {
  deleteExternalReference,
  ExternalId,
  ExternalLink,
  ExternalRating,
  externalIds as externalIdsOf,
  externalLinks as externalLinksOf,
  externalRatings as externalRatingsOf,
  putExternalId,
  putExternalLink,
  putExternalRating,
} from '../../metadata/external-reference.ts'
import { lockSeriesRow, markUserSet } from '../../metadata/series-metadata.ts'
import { requireSeries } from '../series-record.ts'

const owners = {
  series: { ...ofSeries, require: requireSeries, lockRow: lockSeriesRow },
  book: { ...ofBook, require: requireBook, lockRow: lockBookRow },
}
type OwnerKind = keyof typeof owners
type OwnerRef = { kind: OwnerKind; id: string }

/** The differences between ids, links and ratings. */
type ReferenceType<Item extends TSchema, Input extends TSchema> = {
  type: 'id' | 'link' | 'rating'
  operationName: 'ExternalId' | 'ExternalLink' | 'ExternalRating'
  item: Item
  input: Input
  /** Field of the list response. */
  listField: string
  list: (sql: Queryable, kind: OwnerKind, ids: string[]) => Promise<Map<string, Static<Item>[]>>
  /** Name and description of the parameter that selects a reference. */
  idParam: (kind: OwnerKind) => string
  idSchema: TSchema
  parse: (values: Static<Input>) => object
  put: (tx: Transaction, owner: OwnerRef, value: never) => Promise<Static<Item>>
}

const ExternalIdInput = body('ExternalIdInput', {
  source: name(200, { description: 'The service, for example `plugin:<name>`.' }),
  externalId: name(500, { description: 'Id on the service.' }),
  externalUrl: input.text(2000, { documentedAs: optionalWebUrl }),
  metadataHash: input.text(200),
})

const idType: ReferenceType<typeof ExternalId, typeof ExternalIdInput> = {
  type: 'id',
  operationName: 'ExternalId',
  item: ExternalId,
  input: ExternalIdInput,
  listField: 'externalIds',
  list: externalIdsOf,
  idParam: () => 'external_id_id',
  idSchema: uuid({ description: 'Reference id.' }),
  parse: values => ({
    source: requiredText(values.source, 'body/source'),
    externalId: requiredText(values.externalId, 'body/externalId'),
    externalUrl: values.externalUrl?.trim()
      ? parseWebUrl(values.externalUrl, 'body/externalUrl')
      : null,
    metadataHash: values.metadataHash ? trimmedText(values.metadataHash) : null,
  }),
  put: putExternalId,
}

const ExternalLinkInput = body('ExternalLinkInput', {
  sourceName: name(200, { aliases: ['source'], description: 'Name of the site.' }),
  url: text(2000, { documentedAs: webUrl }),
  externalId: input.text(500),
})

const linkType: ReferenceType<typeof ExternalLink, typeof ExternalLinkInput> = {
  type: 'link',
  operationName: 'ExternalLink',
  item: ExternalLink,
  input: ExternalLinkInput,
  listField: 'links',
  list: externalLinksOf,
  idParam: kind => (kind === 'series' ? 'link_id' : 'source'),
  idSchema: text(200, { description: 'Link id, or its source.' }),
  parse: values => ({
    sourceName: requiredText(values.sourceName, 'body/sourceName'),
    url: parseWebUrl(values.url, 'body/url'),
    externalId: values.externalId ? trimmedText(values.externalId) : null,
  }),
  put: putExternalLink,
}

const ExternalRatingInput = body('ExternalRatingInput', {
  sourceName: name(200, { aliases: ['source'], description: 'Name of the service.' }),
  rating: Type.Number({ minimum: 0, maximum: 100 }),
  voteCount: optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, aliases: ['votes'] })),
})

const ratingType: ReferenceType<typeof ExternalRating, typeof ExternalRatingInput> = {
  type: 'rating',
  operationName: 'ExternalRating',
  item: ExternalRating,
  input: ExternalRatingInput,
  listField: 'ratings',
  list: (sql, _kind, ids) => externalRatingsOf(sql, ids),
  idParam: () => 'source',
  idSchema: text(200, { description: 'Source of the rating, or rating id.' }),
  parse: values => ({
    sourceName: requiredText(values.sourceName, 'body/sourceName'),
    rating: values.rating,
    voteCount: values.voteCount ?? null,
  }),
  put: putExternalRating,
}

/** Routes of the external references of one kind of owner. */
export const externalRoutes = (kind: OwnerKind) => [
  ...referenceRoutes(kind, idType),
  ...referenceRoutes(kind, linkType),
  ...(kind === 'series' ? referenceRoutes(kind, ratingType) : []),
]

function referenceRoutes<Item extends TSchema, Input extends TSchema>(
  kind: OwnerKind,
  reference: ReferenceType<Item, Input>,
) {
  const owner = owners[kind]
  const { ownerName } = owner
  const { type, operationName, listField, item } = reference
  const label = `external ${type}`
  /** As named in events. */
  const changedField = `external_${type}s`
  const path = `${owner.path}/external-${type}s`
  const idParam = reference.idParam(kind)
  return [
    route(`GET ${path}`, {
      operationId: `list${ownerName}${operationName}s`,
      permission: owner.read,
      summary: `List ${label}s of a ${kind}`,
      params: owner.params,
      responses: {
        200: component(`${operationName}List`, { [listField]: list(item) }),
      },
      handle: (async ({ params: { id }, viewer }: never, { sql }: never) => {
        await owner.require(sql, viewer, id)
        return { [listField]: (await reference.list(sql, kind, [id])).get(id) ?? [] }
      }) as never,
    }),
    route(`POST ${path}`, {
      operationId: `set${ownerName}${operationName}`,
      permission: owner.write,
      summary: `Set an ${label} of a ${kind}`,
      description: 'One per source: a new one replaces the existing one and keeps its id.',
      params: owner.params,
      body: reference.input,
      responses: { 200: item },
      handle: (async ({ params: { id }, body, viewer }: never, { sql }: never) => {
        checkStorable(body)
        const value = reference.parse(body)
        return await retryOnDeadlock(sql, async tx => {
          const row = await owner.lockRow(tx, viewer, id)
          if (kind === 'series') await markUserSet(tx, row, changedField)
          const stored = await reference.put(tx, { kind, id }, value as never)
          await publishChange(tx, row, [changedField])
          return stored
        })
      }) as never,
    }),
    route(`DELETE ${path}/{${idParam}}`, {
      operationId: `delete${ownerName}${operationName}`,
      permission: owner.write,
      summary: `Delete an ${label} of a ${kind}`,
      params: record({ ...owner.params.properties, [idParam]: reference.idSchema }),
      responses: { 204: null },
      async handle({ params, viewer }, { sql }) {
        const { id, [idParam]: name } = params as Record<string, string>
        await retryOnDeadlock(sql, async tx => {
          const row = await owner.lockRow(tx, viewer, id!)
          await deleteExternalReference(tx, { kind, id: id! }, { type, name: name! })
          if (kind === 'series') await markUserSet(tx, row, changedField)
          await publishChange(tx, row, [changedField])
        })
      },
    }),
  ]
}
