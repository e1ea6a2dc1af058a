// Scans: start, status, cancel.

import { Invalid, NotFound } from '../../../base/errors.ts'
import { body, list, maybe, oneOf, optional, record, text, uuid } from '../../../base/schema.ts'
import { forIdentity } from '../../../http/client/host-access.ts'
import { paged, shortListQuery, shortListResponse } from '../../../http/pagination.ts'
import { LibraryId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { ScanStatus } from '../../scan/scan-progress.ts'
import { cancelScans, type ScanRequest, startScan } from '../../scan/scan-request.ts'
import { activeScans, lastScan, latestScans } from '../../scan/scan-status.ts'
import { requireLibrary } from '../library.ts'
import { libraryById } from '../library-record.ts'
import { scanModes } from '../library-settings.ts'

export const scans = [
  route('POST /libraries/{id}/scan', {
    operationId: 'startScan',
    permission: 'LibrariesWrite',
    summary: 'Start a scan',
    description:
      '`normal` reads new and changed files, `deep` reads all files again. With `paths` only these folders and files are scanned. 409 while another scan is pending or running, unless it was started by folder watching.',
    params: LibraryId,
    query: record({
      mode: maybe(oneOf(scanModes, { default: 'normal', description: 'Scan mode.' })),
    }),
    body: body('ScanRequest', {
      paths: optional(
        list(text(4096, { minLength: 1 }), {
          maxItems: 1000,
          description: 'Folders or files, relative to the library folder.',
        }),
      ),
    }),
    bodyOptional: true,
    responses: { 200: ScanStatus },
    handle: async ({ params, query, body, viewer, identity }, { sql, queue }) => {
      const { path: root } = await libraryById(sql, viewer, params.id)
      const request: ScanRequest = { libraryId: params.id, mode: query.mode ?? 'normal' }
      const paths = (body?.paths ?? []).map(path => relativePath(root, path))
      // The root means the whole library.
      if (!paths.includes('')) request.paths = paths.map(path => Buffer.from(path))
      await startScan(sql, queue, request)
      return forIdentity(identity, await lastScan(sql, viewer, params.id))
    },
  }),
  route('GET /libraries/{id}/scan-status', {
    operationId: 'getScanStatus',
    permission: 'LibrariesRead',
    summary: 'Get the status of the latest scan',
    params: LibraryId,
    responses: { 200: ScanStatus },
    handle: async ({ params, viewer, identity }, { sql }) =>
      forIdentity(identity, await lastScan(sql, viewer, params.id)),
  }),
  route('POST /libraries/{id}/scan/cancel', {
    operationId: 'cancelScan',
    permission: 'LibrariesWrite',
    summary: 'Cancel the pending or running scan',
    description: 'Books already read are retained; the next scan continues from there.',
    params: LibraryId,
    responses: { 204: null },
    handle: async ({ params, viewer }, { sql, queue }) => {
      await requireLibrary(sql, viewer, params.id)
      const cancelled = await sql.begin(tx => cancelScans(tx, queue, { libraryId: params.id }))
      if (cancelled === 0) throw new NotFound('No scan of this library is pending or running')
    },
  }),
  route('GET /scans/active', {
    operationId: 'listActiveScans',
    permission: 'LibrariesRead',
    summary: 'List active scans',
    description: 'Pending and running scans.',
    query: record(shortListQuery),
    responses: { 200: paged(ScanStatus) },
    handle: async ({ viewer, identity, ...input }, { sql }) => {
      const scans = await activeScans(sql, viewer)
      const shown = scans.map(scan => forIdentity(identity, scan))
      return shortListResponse(input, shown)
    },
  }),
  route('GET /scans/latest', {
    operationId: 'listLatestScans',
    permission: 'LibrariesRead',
    summary: 'List the latest scan of each library',
    description: 'Libraries that were never scanned are left out.',
    query: record({
      libraryId: maybe(uuid({ description: 'Limits the list to this library.' })),
      ...shortListQuery,
    }),
    responses: { 200: paged(ScanStatus) },
    handle: async ({ viewer, identity, ...input }, { sql }) => {
      const scans = await latestScans(sql, viewer, input.query.libraryId ?? null)
      const shown = scans.map(scan => forIdentity(identity, scan))
      return shortListResponse(input, shown)
    },
  }),
]

/** A normalized path relative to the library, empty for the root. Throws Invalid for a path outside. */
function relativePath(root: string, path: string): string {
  const relative = path.startsWith(`${root}/`) ? path.slice(root.length) : path === root ? '' : path
  if (relative === path && path.startsWith('/'))
    throw new Invalid('paths must be inside the library folder')
  const parts = relative.split('/').filter(part => part !== '' && part !== '.')
  if (parts.includes('..') || path.includes('\0'))
    throw new Invalid('paths must be inside the library folder')
  return parts.join('/')
}
