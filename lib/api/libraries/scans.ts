// Scans: started, watched and called off by users.
import { requireLibrary } from '../../catalog/library/library.ts'
import { libraryById } from '../../catalog/library/library-record.ts'
import { scanModes } from '../../catalog/library/library-rules.ts'
import { cancelScans, type ScanRequest, startScan } from '../../catalog/scan/scan-request.ts'
import { activeScans, lastScan, ScanStatus } from '../../catalog/scan/scan-status.ts'
import { Invalid, NotFound } from '../../errors.ts'
import { answer, route } from '../../http/route.ts'
import { body, Id, list, maybe, nullable, oneOf, record, text } from '../../schema.ts'

export const scans = [
  route({
    method: 'POST',
    path: '/libraries/{id}/scan',
    permission: 'LibrariesWrite',
    summary: 'Start a scan',
    description:
      '`normal` reads new and changed files, `deep` reads every file again. With `paths` only these folders and files are looked at. 409 while another scan waits or runs, unless it is one of watching.',
    params: Id,
    query: record({ mode: maybe(oneOf(scanModes, { default: 'normal' })) }),
    body: body({
      paths: maybe(
        nullable(
          list(text(4096, { minLength: 1 }), {
            maxItems: 1000,
            description: 'Folders or files, relative to the folder of the library.',
          }),
        ),
      ),
    }),
    bodyOptional: true,
    responses: { 200: ScanStatus },
    handle: async ({ params, query, body, viewer }, { sql, queue }) => {
      const { path: root } = await libraryById(sql, viewer, params.id)
      const request: ScanRequest = { libraryId: params.id, mode: query.mode ?? 'normal' }
      const paths = (body?.paths ?? []).map(path => inside(root, path))
      // The root stands for everything.
      if (!paths.includes('')) request.paths = paths.map(path => Buffer.from(path))
      await startScan(sql, queue, request)
      return await lastScan(sql, viewer, params.id)
    },
  }),
  route({
    method: 'GET',
    path: '/libraries/{id}/scan-status',
    permission: 'LibrariesRead',
    summary: 'The latest scan of a library',
    params: Id,
    responses: { 200: ScanStatus },
    handle: ({ params, viewer }, { sql }) => lastScan(sql, viewer, params.id),
  }),
  route({
    method: 'POST',
    path: '/libraries/{id}/scan/cancel',
    permission: 'LibrariesWrite',
    summary: 'Cancel the scan that waits or runs',
    description: 'What was read stays; the next scan goes on from there.',
    params: Id,
    responses: { 204: null },
    handle: async ({ params, viewer }, { sql, queue }) => {
      await requireLibrary(sql, viewer, params.id)
      const cancelled = await sql.begin(tx => cancelScans(tx, queue, { libraryId: params.id }))
      if (cancelled === 0) throw new NotFound('No scan of this library waits or runs')
      return answer(204)
    },
  }),
  route({
    method: 'GET',
    path: '/scans/active',
    permission: 'LibrariesRead',
    summary: 'Scans that wait or run',
    responses: { 200: list(ScanStatus) },
    handle: ({ viewer }, { sql }) => activeScans(sql, viewer),
  }),
]

/** A library-relative path without dots, empty for the root. Throws Invalid for one that leads elsewhere. */
function inside(root: string, path: string): string {
  const relative = path.startsWith(`${root}/`) ? path.slice(root.length) : path === root ? '' : path
  if (relative === path && path.startsWith('/'))
    throw new Invalid('paths must lie in the folder of the library')
  const parts = relative.split('/').filter(part => part !== '' && part !== '.')
  if (parts.includes('..') || path.includes('\0'))
    throw new Invalid('paths must lie in the folder of the library')
  return parts.join('/')
}
