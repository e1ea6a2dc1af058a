// Libraries of the Komga-compatible API: list, create, change, delete, operations on their books; and the browser of
// server folders in which they may be. Settings without a counterpart (such as conversion to CBZ) have no effect.
import { allAccounts } from '../../../../accounts/identify.ts'
import { Conflict, Invalid } from '../../../../base/errors.ts'
import {
  component,
  list,
  maybe,
  nullable,
  oneOf,
  optional,
  record,
  type Static,
  type TSchema,
  Type,
  text,
  uuid,
} from '../../../../base/schema.ts'
import { purgeLibrary } from '../../../../catalog/book/purge.ts'
import { requireLibrary } from '../../../../catalog/library/library.ts'
import { deleteLibrary } from '../../../../catalog/library/library-erase.ts'
import type { LibrarySettings } from '../../../../catalog/library/library-settings.ts'
import { createLibrary, updateLibrary } from '../../../../catalog/library/library-write.ts'
import { browse, listDrives } from '../../../../catalog/library/routes/filesystem.ts'
import {
  requireFolderAccess,
  settingsAccess,
} from '../../../../catalog/library/routes/folder-access.ts'
import { startScan } from '../../../../catalog/scan/scan-request.ts'
import type { Deps } from '../../../../http/deps.ts'
import { type Input, route } from '../../../../http/route.ts'
import { type FormatName, formatNames } from '../../../../media/format/formats.ts'
import {
  cronOfInterval,
  LibraryDto,
  libraryDto,
  libraryDtos,
  scanIntervals,
} from '../../library-dto.ts'
import { readerOf, texts } from '../../values.ts'

const flags = Object.entries(LibraryDto.properties as Record<string, TSchema & { type?: string }>)
  .filter(([name, { type }]) => type === 'boolean' && name !== 'unavailable')
  .map(([name]) => [name, optional(Type.Boolean())])

export const LibraryChanges = record({
  ...(Object.fromEntries(flags) as object),
  name: optional(text(255, { minLength: 1 })),
  root: optional(text(4096, { minLength: 1 })),
  scanInterval: optional(oneOf(scanIntervals)),
  scanDirectoryExclusions: optional(list(text(1000), { maxItems: 500 })),
  ...{ scanCbx: optional(Type.Boolean()), scanPdf: optional(Type.Boolean()) },
  ...{ scanEpub: optional(Type.Boolean()), scanOnStartup: optional(Type.Boolean()) },
  emptyTrashAfterScan: optional(Type.Boolean()),
})
type LibraryChanges = Static<typeof LibraryChanges>

const isComic = (name: FormatName) => name !== 'pdf' && name !== 'epub'

export function libraryChanges(changes: LibraryChanges): LibrarySettings {
  const { scanDirectoryExclusions: exclusions } = changes
  const scanning = scanningChanges(changes)
  return {
    ...(exclusions ? { excludedPatterns: exclusions.join('\n') } : {}),
    ...(scanning ? { scanningConfig: scanning } : {}),
    ...formatChanges(changes),
  }
}

function scanningChanges({ scanInterval, scanOnStartup, emptyTrashAfterScan }: LibraryChanges) {
  const schedule =
    scanInterval == null
      ? {}
      : scanInterval === 'DISABLED'
        ? { enabled: false, cronSchedule: null }
        : { enabled: true, cronSchedule: cronOfInterval[scanInterval] }
  const all = {
    ...schedule,
    ...(scanOnStartup == null ? {} : { scanOnStart: scanOnStartup }),
    ...(emptyTrashAfterScan == null ? {} : { purgeDeletedOnScan: emptyTrashAfterScan }),
  }
  return Object.keys(all).length === 0 ? null : all
}

/** Only if all three are set: a single one does not say whether the others are read. */
function formatChanges({ scanCbx, scanPdf, scanEpub }: LibraryChanges) {
  if (scanCbx == null || scanPdf == null || scanEpub == null) return {}
  const allowed = formatNames.filter(name =>
    name === 'pdf' ? scanPdf : name === 'epub' ? scanEpub : isComic(name) && scanCbx,
  )
  // No formats at all would be stored as all formats.
  return allowed.length === formatNames.length || allowed.length === 0
    ? { allowedFormats: null }
    : { allowedFormats: [...allowed] }
}

const LibraryId = record({ libraryId: uuid({ description: 'Library id.' }) })
const NewLibrary = record({
  ...LibraryChanges.properties,
  name: Type.String({ minLength: 1, maxLength: 255 }),
  root: Type.String({ minLength: 1, maxLength: 4096 }),
})

type Change = Input<'LibrariesWrite', typeof LibraryId, undefined, typeof LibraryChanges>

const ofLibraries = [
  route('GET /libraries', {
    operationId: 'getLibraries',
    permission: 'LibrariesRead',
    summary: 'List libraries',
    responses: { 200: list(LibraryDto) },
    handle: (input, { sql }) => libraryDtos(sql, readerOf(input)),
  }),
  route('GET /libraries/{libraryId}', {
    operationId: 'getLibraryById',
    permission: 'LibrariesRead',
    summary: 'Get a library',
    params: LibraryId,
    responses: { 200: LibraryDto },
    handle: (input, { sql }) => libraryDto(sql, readerOf(input), input.params.libraryId),
  }),
  route('POST /libraries', {
    operationId: 'addLibrary',
    permission: 'LibrariesWrite',
    summary: 'Create a library and scan it',
    body: NewLibrary,
    responses: { 200: LibraryDto },
    async handle({ body, identity, viewer }, { sql, queue, config, identities }) {
      await requireFolderAccess(sql, identity)
      const id = await createLibrary(
        { sql, queue, filesystem: config },
        await settingsAccess(sql, identity),
        { ...libraryChanges(body), name: body.name, path: body.root, scanImmediately: true },
      )
      identities.invalidate(allAccounts)
      const libraries = viewer.libraries && [...viewer.libraries, id]
      return await libraryDto(sql, readerOf({ identity, viewer: { ...viewer, libraries } }), id)
    },
  }),
  route('PATCH /libraries/{libraryId}', {
    operationId: 'updateLibraryById',
    aliases: [{ method: 'PUT', operationId: 'updateLibraryByIdDeprecated' }],
    permission: 'LibrariesWrite',
    summary: 'Change a library',
    params: LibraryId,
    body: LibraryChanges,
    bodyOptional: true,
    responses: { 204: null },
    handle: (input, deps) => changeLibrary(input, deps),
  }),
  route('DELETE /libraries/{libraryId}', {
    operationId: 'deleteLibraryById',
    permission: 'LibrariesDelete',
    summary: 'Delete a library, but not its files',
    params: LibraryId,
    responses: { 204: null },
    async handle({ params, viewer }, { sql, queue, identities }) {
      await deleteLibrary(sql, queue, { viewer, libraryId: params.libraryId })
      identities.invalidate(allAccounts)
    },
  }),
  route('POST /libraries/{libraryId}/scan', {
    operationId: 'libraryScan',
    permission: 'LibrariesWrite',
    summary: 'Scan a library',
    params: LibraryId,
    query: record({ deep: maybe(Type.Boolean()) }),
    responses: { 202: null },
    handle: ({ params, query, viewer }, deps) =>
      scan(deps, { viewer, id: params.libraryId, mode: query.deep ? 'deep' : 'normal' }),
  }),
  // Metadata is read from the files along with everything else.
  ...(
    [
      ['libraryAnalyze', 'analyze'],
      ['libraryRefreshMetadata', 'metadata/refresh'],
    ] as const
  ).map(([operationId, action]) =>
    route(`POST /libraries/{libraryId}/${action}`, {
      operationId,
      permission: 'LibrariesWrite',
      summary: 'Read all files of a library again',
      params: LibraryId,
      responses: { 202: null },
      handle: ({ params, viewer }, deps) =>
        scan(deps, { viewer, id: params.libraryId, mode: 'deep' }),
    }),
  ),
  route('POST /libraries/{libraryId}/empty-trash', {
    operationId: 'libraryEmptyTrash',
    permission: 'BooksDelete',
    summary: 'Delete the missing books of a library',
    params: LibraryId,
    responses: { 202: null },
    async handle({ params, viewer }, { sql }) {
      await purgeLibrary(sql, viewer, params.libraryId)
    },
  }),
]

async function changeLibrary(
  { params: { libraryId: id }, body, identity, viewer }: Change,
  { sql, queue, config }: Deps,
) {
  if (body.name === null || body.root === null)
    throw new Invalid('A library must have a name and a folder')
  const { root } = await libraryDto(sql, { viewer, isAdmin: true }, id)
  const isMoved = body.root !== undefined && body.root !== root
  if (isMoved) await requireFolderAccess(sql, identity)
  const target = { access: await settingsAccess(sql, identity), id }
  await updateLibrary({ sql, queue, filesystem: config }, target, {
    ...libraryChanges(body),
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(isMoved ? { path: body.root } : {}),
  })
}

type Scan = { viewer: Change['viewer']; id: string; mode: 'normal' | 'deep' }

/** A scan that is already pending or running counts as success. */
async function scan({ sql, queue }: Pick<Deps, 'sql' | 'queue'>, { viewer, id, mode }: Scan) {
  await requireLibrary(sql, viewer, id)
  try {
    await startScan(sql, queue, { libraryId: id, mode })
  } catch (error) {
    if (!(error instanceof Conflict)) throw error
  }
}

const PathDto = component('PathDto', texts('type', 'name', 'path'))
type Entry = { name: string; path: string; isDirectory: boolean }

export const libraries = [
  ...ofLibraries,
  route('POST /filesystem', {
    operationId: 'getDirectoryListing',
    permission: 'SystemAdmin',
    // Disks that do not respond must not block lists, and this runs no statement.
    cost: 'record',
    summary: 'List a folder of the server',
    body: record({ path: maybe(text(4096)), showFiles: maybe(Type.Boolean()) }),
    bodyOptional: true,
    responses: {
      200: component('DirectoryListingDto', {
        parent: nullable(Type.String()),
        directories: list(PathDto),
        files: list(PathDto),
      }),
    },
    async handle({ body: { path = '', showFiles = false } }, { config }) {
      const listing =
        path === ''
          ? { parentPath: null, entries: await listDrives(config) }
          : await browse(config, path)
      const files = listing.entries.filter(entry => !entry.isDirectory)
      return {
        parent: listing.parentPath ?? (path === '' ? null : ''),
        directories: listing.entries.filter(entry => entry.isDirectory).map(pathDto),
        files: showFiles ? files.map(pathDto) : [],
      }
    },
  }),
]

const pathDto = ({ name, path, isDirectory }: Entry) => ({
  type: isDirectory ? 'directory' : 'file',
  name,
  path,
})
