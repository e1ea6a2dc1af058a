// Libraries: list, create, update, delete, and a preview of a scan.
import { allAccounts, type Identity } from '../../../accounts/identify.ts'
import {
  body,
  component,
  count,
  list,
  name,
  nullable,
  oneOf,
  optional,
  patchBody,
  record,
  Type,
  text,
} from '../../../base/schema.ts'
import { paged, pageQuery, pageResponse, paging } from '../../../http/pagination.ts'
import { LibraryId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { seriesStrategies } from '../../../media/strategy/series.ts'
import { deleteLibrary } from '../library-erase.ts'
import { previewLibrary } from '../library-preview.ts'
import { Library, libraryById, listLibraries } from '../library-record.ts'
import { StrategyConfig, settingFields } from '../library-settings.ts'
import { createLibrary, updateLibrary } from '../library-write.ts'
import { previewStrategy } from '../strategy-preview.ts'
import { suggestibleStrategies } from '../suggested-strategy.ts'
import { requireFolderAccess, settingsAccess } from './folder-access.ts'

const seriesFields = {
  seriesStrategy: optional(
    text(50, {
      documentedAs: {
        type: 'string',
        enum: seriesStrategies,
        description: 'How folders become series.',
      },
    }),
  ),
  seriesConfig: optional(StrategyConfig),
}
const path = text(4096, {
  minLength: 1,
  documentedAs: {
    type: 'string',
    maxLength: 4096,
    pattern: '^/[^\\u0000]*$',
    description: 'Absolute path of a folder that the server can read.',
  },
})
const displayName = name(255, { description: 'Display name.' })
const scheduleNote = 'Fields of `scanningConfig` are also accepted in snake_case.'

const purgeNote =
  'With `purgeDeletedOnScan`, this and every change of which files belong to the library require BooksDelete, and an account from which nothing in the library is hidden.'

const DetectedSeries = component('DetectedSeries', {
  name: Type.String(),
  path: nullable(Type.String({ description: 'Relative to the library folder.' })),
  bookCount: count(),
  sampleBooks: list(Type.String()),
  metadata: nullable(
    record({ publisher: nullable(Type.String()), author: nullable(Type.String()) }),
  ),
})
const ScanPreview = component('ScanPreview', {
  detectedSeries: list(DetectedSeries),
  totalSeries: count({ description: 'Up to 1,000 of them are listed.' }),
  totalFiles: count(),
  isComplete: Type.Boolean({ description: 'Whether the whole folder was read.' }),
  suggestedStrategy: nullable(
    oneOf(suggestibleStrategies, {
      description:
        'A series strategy that fits better than the requested one, because the folder is a Calibre library or its subfolders are volumes.',
    }),
  ),
})

const StrategyPreview = component('StrategyPreview', {
  seriesBefore: count(),
  seriesAfter: count(),
  unchangedSeries: count({ description: 'Number of series whose books do not change.' }),
  changedSeries: list(
    component('RegroupedSeries', {
      name: Type.String(),
      bookCount: count(),
      sourceCount: count({ description: 'Number of series that its books belong to now.' }),
      sources: list(record({ title: Type.String(), bookCount: count() })),
    }),
    {
      description: 'Up to 200, those made from the most series first, each with up to 5 of these.',
    },
  ),
  isComplete: Type.Boolean({ description: 'Whether all books were considered.' }),
})

/** Only callers who may change a library see its folder. */
const withoutPath = (library: Library, { permissions }: Identity): Library =>
  permissions.has('LibrariesWrite') ? library : { ...library, path: '' }

export const libraries = [
  route('GET /libraries', {
    operationId: 'listLibraries',
    permission: 'LibrariesRead',
    summary: 'List libraries',
    description: 'Sorted by name.',
    query: record(pageQuery),
    responses: { 200: paged(Library) },
    handle: async ({ query, identity, viewer, request, reply }, { sql }) => {
      const page = paging(query)
      const { data, total } = await listLibraries(sql, viewer, page)
      const shown = data.map(library => withoutPath(library, identity))
      return pageResponse({ request, reply, query }, { data: shown, total, paging: page })
    },
  }),
  route('POST /libraries', {
    operationId: 'createLibrary',
    permission: 'LibrariesWrite',
    summary: 'Create a library',
    description: `For administrators and accounts from which nothing is hidden. The folder must not contain another library or be inside one. ${purgeNote} ${scheduleNote}`,
    body: body('LibraryCreate', {
      name: displayName,
      path,
      ...seriesFields,
      ...settingFields,
      scanImmediately: optional(Type.Boolean({ description: 'Whether to scan the new library.' })),
    }),
    responses: { 201: Library },
    handle: async ({ body, identity, viewer }, { sql, queue, config, identities }) => {
      await requireFolderAccess(sql, identity)
      const id = await createLibrary(
        { sql, queue, filesystem: config },
        await settingsAccess(sql, identity),
        body,
      )
      if (viewer.libraries === null) return await libraryById(sql, viewer, id)
      identities.invalidate(allAccounts)
      return await libraryById(sql, { ...viewer, libraries: [...viewer.libraries, id] }, id)
    },
  }),
  route('POST /libraries/preview-scan', {
    operationId: 'previewScan',
    permission: 'LibrariesWrite',
    summary: 'Preview the series of a folder',
    description:
      'For administrators and accounts from which nothing is hidden. Uses file names only and takes at most a few seconds; `isComplete` is false if that was not enough. Metadata in the files may lead to different series names.',
    body: body('ScanPreviewRequest', {
      path,
      ...seriesFields,
      allowedFormats: settingFields.allowedFormats,
      excludedPatterns: settingFields.excludedPatterns,
    }),
    responses: { 200: ScanPreview },
    handle: async ({ body, identity, signal }, { sql, config }) => {
      await requireFolderAccess(sql, identity)
      return await previewLibrary(config, body, signal)
    },
  }),
  route('GET /libraries/{id}', {
    operationId: 'getLibrary',
    permission: 'LibrariesRead',
    summary: 'Get a library',
    params: LibraryId,
    responses: { 200: Library },
    handle: async ({ params, identity, viewer }, { sql }) =>
      withoutPath(await libraryById(sql, viewer, params.id), identity),
  }),
  route('PUT /libraries/{id}', {
    operationId: 'updateLibrary',
    aliases: [{ method: 'PATCH', operationId: 'patchLibrary' }],
    permission: 'LibrariesWrite',
    summary: 'Update a library',
    description: `Absent fields are unchanged; null clears optional fields. After a change of strategy, which is refused during a scan, the next scan regroups the books and reads all files; progress, edits, locks, covers and places in lists are preserved. Changing the folder, or turning followLinks on, follows the rules for creating a library; the next scan finds the books in the new folder and preserves their progress. ${purgeNote} ${scheduleNote}`,
    params: LibraryId,
    body: patchBody(
      'LibraryUpdate',
      {
        name: optional(displayName),
        path: optional(path),
        ...seriesFields,
        ...settingFields,
        // A separate field, not an alias: a library that is sent back has both, and the client changed one of them.
        scanning_config: settingFields.scanningConfig,
      },
      Library,
    ),
    responses: { 200: Library },
    handle: async ({ params, body, identity, viewer }, { sql, queue, config }) => {
      if (typeof body.path === 'string') {
        const { path } = await libraryById(sql, viewer, params.id)
        if (path !== body.path) await requireFolderAccess(sql, identity)
      }
      const target = { access: await settingsAccess(sql, identity), id: params.id }
      await updateLibrary({ sql, queue, filesystem: config }, target, body)
      return await libraryById(sql, viewer, params.id)
    },
  }),
  route('POST /libraries/{id}/preview-strategy', {
    operationId: 'previewStrategy',
    permission: 'LibrariesWrite',
    summary: 'Preview a change of the series strategy',
    description:
      'For administrators and accounts from which nothing is hidden. Based on the catalog, including series stated by the files; takes at most a few seconds, and `isComplete` is false if that was not enough. Changes nothing.',
    params: LibraryId,
    body: body('StrategyPreviewRequest', {
      seriesStrategy: oneOf(seriesStrategies),
      seriesConfig: optional(StrategyConfig),
    }),
    responses: { 200: StrategyPreview },
    handle: async ({ params, body, identity, viewer, signal }, { sql }) => {
      await requireFolderAccess(sql, identity)
      return await previewStrategy(sql, { viewer, libraryId: params.id, signal }, body)
    },
  }),
  route('DELETE /libraries/{id}', {
    operationId: 'deleteLibrary',
    permission: 'LibrariesDelete',
    summary: 'Delete a library',
    description:
      'Its series and books and their progress disappear immediately and are deleted in the background. Files on disk are not changed.',
    params: LibraryId,
    responses: { 204: null },
    handle: async ({ params, viewer }, { sql, queue, identities }) => {
      await deleteLibrary(sql, queue, { viewer, libraryId: params.id })
      identities.invalidate(allAccounts)
    },
  }),
]
