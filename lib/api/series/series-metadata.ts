// What is known of a series, and changing it.

import type { Viewer } from '../../auth/viewer.ts'
import {
  lockWishes,
  SeriesLocks,
  seriesFlags,
  shownLocks,
} from '../../catalog/metadata/lock-names.ts'
import { changing } from '../../catalog/metadata/metadata-change.ts'
import { changesOf, fieldsBody, seriesFields } from '../../catalog/metadata/metadata-fields.ts'
import { checkStorable, field } from '../../catalog/metadata/metadata-values.ts'
import {
  changeSeries,
  holdSeries,
  lockSeries,
  mergingCustom,
} from '../../catalog/metadata/series-metadata.ts'
import { SeriesMetadata, seriesMetadata } from '../../catalog/metadata/series-metadata-record.ts'
import { resetSeries } from '../../catalog/metadata/series-reset.ts'
import { SeriesContext, seriesContext } from '../../catalog/metadata/template-context.ts'
import { analyzeBook } from '../../catalog/scan/analyze.ts'
import { seriesById } from '../../catalog/series/series-record.ts'
import { route } from '../../http/route.ts'
import type { Sql } from '../../postgres/db.ts'
import { body, change, Id, record, Type, timestamp, uuid } from '../../schema.ts'

const Fields = change(fieldsBody(seriesFields).properties, SeriesMetadata)
const of = { params: Id, permission: 'SeriesWrite' } as const
const locked = 'Fields that are set are locked: scans leave them as they are.'

type Writing = { viewer: Viewer; id: string; given: object; which: 'some' | 'all' }

async function write(sql: Sql, { viewer, id, given, which }: Writing) {
  checkStorable(given)
  const changes = changesOf(seriesFields, given as Record<string, unknown>, which)
  await changing(sql, async tx => {
    const series = await holdSeries(tx, viewer, id)
    const merged = which === 'some' ? mergingCustom(series.customMetadata, changes) : changes
    await changeSeries(tx, series, merged)
  })
}

export const seriesMetadataRoutes = [
  route({
    ...of,
    method: 'PATCH',
    path: '/series/{id}',
    summary: 'Change the title of a series',
    description: 'The title is locked: scans leave it as it is.',
    body: body({ title: field.text(1000) }),
    responses: { 200: record({ id: uuid(), title: Type.String(), updatedAt: timestamp() }) },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await write(sql, { viewer, id, given: body, which: 'some' })
      return await seriesById(sql, viewer, id)
    },
  }),
  route({
    ...of,
    method: 'GET',
    path: '/series/{id}/metadata',
    permission: 'SeriesRead',
    summary: 'All metadata of a series',
    responses: { 200: SeriesMetadata },
    handle: ({ params, viewer }, { sql }) => seriesMetadata(sql, viewer, params.id),
  }),
  route({
    ...of,
    method: 'PUT',
    path: '/series/{id}/metadata',
    summary: 'Replace the metadata of a series',
    description: `Fields that are absent are cleared; title and alternateTitles are kept. ${locked}`,
    body: Fields,
    responses: { 200: SeriesMetadata },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await write(sql, { viewer, id, given: body, which: 'all' })
      return await seriesMetadata(sql, viewer, id)
    },
  }),
  route({
    ...of,
    method: 'PATCH',
    path: '/series/{id}/metadata',
    summary: 'Change some metadata of a series',
    description: `Absent fields stay, null clears; customMetadata is merged (RFC 7396). ${locked}`,
    body: Fields,
    responses: { 200: SeriesMetadata },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await write(sql, { viewer, id, given: body, which: 'some' })
      return await seriesMetadata(sql, viewer, id)
    },
  }),
  route({
    ...of,
    method: 'DELETE',
    path: '/series/{id}/metadata',
    summary: 'Reset the metadata of a series to what its files say',
    description:
      'Takes off all locks and drops what users set, links and ids too. Covers and sharing tags stay. Files beside the books are read again in the background.',
    responses: { 200: SeriesMetadata },
    async handle({ params: { id }, viewer }, { sql, queue }) {
      const bookId = await changing(sql, async tx =>
        resetSeries(tx, await holdSeries(tx, viewer, id)),
      )
      if (bookId !== null) await analyzeBook({ sql, queue, viewer, unanalyzedOnly: false }, bookId)
      return await seriesMetadata(sql, viewer, id)
    },
  }),
  route({
    ...of,
    method: 'GET',
    path: '/series/{id}/metadata/locks',
    permission: 'SeriesRead',
    summary: 'Which fields of a series are locked',
    responses: { 200: SeriesLocks },
    handle: async ({ params, viewer }, { sql }) =>
      (await seriesMetadata(sql, viewer, params.id)).locks,
  }),
  route({
    ...of,
    method: 'PUT',
    path: '/series/{id}/metadata/locks',
    summary: 'Lock and unlock fields of a series',
    description: 'Flags that are absent stay as they are.',
    body: lockWishes(seriesFlags),
    responses: { 200: SeriesLocks },
    handle: ({ params, body, viewer }, { sql }) =>
      changing(sql, async tx => {
        const series = await holdSeries(tx, viewer, params.id)
        return shownLocks(seriesFlags, await lockSeries(tx, series, body))
      }),
  }),
  route({
    ...of,
    method: 'GET',
    path: '/series/{id}/context',
    permission: 'SeriesRead',
    summary: 'A series as templates and conditions see it',
    responses: { 200: SeriesContext },
    handle: ({ params, viewer }, { sql }) => seriesContext(sql, viewer, params.id),
  }),
]
