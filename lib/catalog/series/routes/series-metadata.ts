// Metadata of a series: read, replace, update, reset, locks, template context.
import type { Viewer } from '../../../accounts/viewer.ts'
import { body, component, patchBody, Type, timestamp, uuid } from '../../../base/schema.ts'
import { SeriesId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { checkStorable, input } from '../../../media/metadata/user-input.ts'
import type { Sql } from '../../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../../store/postgres/retry-on-deadlock.ts'
import { type EditMode, editSchemas, parseChanges, seriesEdits } from '../../metadata/edits.ts'
import { lockFlagsOf, locksBody, SeriesLocks, seriesLockFlags } from '../../metadata/field-locks.ts'
import {
  lockSeriesRow,
  setSeriesLocks,
  updateSeriesMetadata,
  withMergedCustomMetadata,
} from '../../metadata/series-metadata.ts'
import { SeriesMetadata, seriesMetadata } from '../../metadata/series-metadata-record.ts'
import { resetSeriesMetadata } from '../../metadata/series-reset.ts'
import { SeriesContext, seriesContext } from '../../metadata/template-context.ts'
import { analyzeBook } from '../../scan/analyze.ts'
import { seriesById } from '../series-record.ts'

const SeriesMetadataUpdate = patchBody(
  'SeriesMetadataUpdate',
  editSchemas(seriesEdits),
  SeriesMetadata,
)
const writeAccess = { params: SeriesId, permission: 'SeriesWrite' } as const
const lockNote = 'Fields in the request are locked against changes by scans.'

type MetadataUpdate = { viewer: Viewer; id: string; fields: object; mode: EditMode }

async function update(sql: Sql, { viewer, id, fields, mode }: MetadataUpdate) {
  checkStorable(fields)
  const changes = parseChanges(seriesEdits, fields as Record<string, unknown>, mode)
  await retryOnDeadlock(sql, async tx => {
    const series = await lockSeriesRow(tx, viewer, id)
    await updateSeriesMetadata(tx, [series], ({ customMetadata }) =>
      mode === 'patch' ? withMergedCustomMetadata(customMetadata, changes) : changes,
    )
  })
}

export const seriesMetadataRoutes = [
  route('PATCH /series/{id}', {
    ...writeAccess,
    operationId: 'patchSeries',
    summary: 'Update the title of a series',
    description: 'The title is locked against changes by scans.',
    body: body('SeriesUpdate', { title: input.name(1000) }),
    responses: {
      200: component('UpdatedSeries', { id: uuid(), title: Type.String(), updatedAt: timestamp() }),
    },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await update(sql, { viewer, id, fields: body, mode: 'patch' })
      return await seriesById(sql, viewer, id)
    },
  }),
  route('GET /series/{id}/metadata', {
    ...writeAccess,
    operationId: 'getSeriesMetadata',
    permission: 'SeriesRead',
    summary: 'Get the metadata of a series',
    responses: { 200: SeriesMetadata },
    handle: ({ params, viewer }, { sql }) => seriesMetadata(sql, viewer, params.id),
  }),
  route('PUT /series/{id}/metadata', {
    ...writeAccess,
    operationId: 'replaceSeriesMetadata',
    summary: 'Replace the metadata of a series',
    description: `Absent fields are cleared, except title and alternateTitles. ${lockNote}`,
    body: SeriesMetadataUpdate,
    responses: { 200: SeriesMetadata },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await update(sql, { viewer, id, fields: body, mode: 'put' })
      return await seriesMetadata(sql, viewer, id)
    },
  }),
  route('PATCH /series/{id}/metadata', {
    ...writeAccess,
    operationId: 'updateSeriesMetadata',
    summary: 'Update metadata of a series',
    description: `Absent fields are unchanged, null clears a field; customMetadata is merged (RFC 7396). ${lockNote}`,
    body: SeriesMetadataUpdate,
    responses: { 200: SeriesMetadata },
    async handle({ params: { id }, body, viewer }, { sql }) {
      await update(sql, { viewer, id, fields: body, mode: 'patch' })
      return await seriesMetadata(sql, viewer, id)
    },
  }),
  route('DELETE /series/{id}/metadata', {
    ...writeAccess,
    operationId: 'resetSeriesMetadata',
    summary: "Reset the metadata of a series to its files' metadata",
    description:
      'Removes all locks and all values set by users, including external links and ids. Covers and sharing tags are not changed. Metadata files beside the books are read again in the background.',
    responses: { 200: SeriesMetadata },
    async handle({ params: { id }, viewer }, { sql, queue }) {
      const [bookId] = await retryOnDeadlock(sql, async tx =>
        resetSeriesMetadata(tx, [await lockSeriesRow(tx, viewer, id)]),
      )
      if (bookId) await analyzeBook({ sql, queue, viewer, unanalyzedOnly: false }, bookId)
      return await seriesMetadata(sql, viewer, id)
    },
  }),
  route('GET /series/{id}/metadata/locks', {
    ...writeAccess,
    operationId: 'getSeriesLocks',
    permission: 'SeriesRead',
    summary: 'Get the field locks of a series',
    responses: { 200: SeriesLocks },
    handle: async ({ params, viewer }, { sql }) =>
      (await seriesMetadata(sql, viewer, params.id)).locks,
  }),
  route('PUT /series/{id}/metadata/locks', {
    ...writeAccess,
    operationId: 'updateSeriesLocks',
    summary: 'Update the field locks of a series',
    description: 'Absent flags are unchanged.',
    body: locksBody(seriesLockFlags, 'SeriesLocksUpdate'),
    responses: { 200: SeriesLocks },
    handle: ({ params, body, viewer }, { sql }) =>
      retryOnDeadlock(sql, async tx => {
        const series = await lockSeriesRow(tx, viewer, params.id)
        const locks = await setSeriesLocks(tx, [series], body)
        return lockFlagsOf(seriesLockFlags, locks.get(series.id)!)
      }),
  }),
  route('GET /series/{id}/context', {
    ...writeAccess,
    operationId: 'getSeriesContext',
    permission: 'SeriesRead',
    summary: 'Get the template context of a series',
    description: 'The fields that templates and conditions can use.',
    responses: { 200: SeriesContext },
    handle: ({ params, viewer }, { sql }) => seriesContext(sql, viewer, params.id),
  }),
]
