// Libraries: folders of books, how they are read, and what a scan of a folder would make of it.
import { everyone } from '../../auth/identify.ts'
import { removeLibrary } from '../../catalog/library/library-erase.ts'
import { previewLibrary } from '../../catalog/library/library-preview.ts'
import {
  Library,
  libraries as librariesOf,
  libraryById,
} from '../../catalog/library/library-record.ts'
import { ruleFields, StrategyConfig } from '../../catalog/library/library-rules.ts'
import { changeLibrary, makeLibrary } from '../../catalog/library/library-write.ts'
import { paged, pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { answer, route } from '../../http/route.ts'
import { body, change, count, Id, list, maybe, nullable, record, Type, text } from '../../schema.ts'

const seriesFields = {
  seriesStrategy: maybe(
    nullable(text(50, { description: 'How folders become series; fixed when it is made.' })),
  ),
  seriesConfig: maybe(nullable(StrategyConfig)),
}
const path = text(4096, {
  minLength: 1,
  description: 'Absolute path of a folder that the server can read.',
})
const name = text(255, { minLength: 1 })
const schedules =
  'The schedule of `scanningConfig` is checked, kept and shown. Keys may be written in snake_case.'

export const libraries = [
  route({
    method: 'GET',
    path: '/libraries',
    permission: 'LibrariesRead',
    summary: 'Libraries by name',
    query: record(pageQuery),
    responses: { 200: paged(Library) },
    handle: async ({ query, viewer, request, reply }, { sql }) => {
      const page = paging(query)
      const found = await librariesOf(sql, viewer, page)
      return pageOf({ request, reply, query }, { ...found, paging: page })
    },
  }),
  route({
    method: 'POST',
    path: '/libraries',
    permission: 'LibrariesWrite',
    summary: 'Add a library',
    description: `The folder must not lie inside or around another library. ${schedules}`,
    body: body({
      name,
      path,
      ...seriesFields,
      ...ruleFields,
      scanImmediately: maybe(nullable(Type.Boolean({ description: 'Scans it at once.' }))),
    }),
    responses: { 201: Library },
    handle: async ({ body, viewer }, { sql, queue, config, identities }) => {
      const id = await makeLibrary({ sql, queue, grounds: config }, viewer, body)
      if (viewer.libraries === null) return await libraryById(sql, viewer, id)
      identities.drop(everyone)
      return await libraryById(sql, { ...viewer, libraries: [...viewer.libraries, id] }, id)
    },
  }),
  route({
    method: 'POST',
    path: '/libraries/preview-scan',
    permission: 'LibrariesWrite',
    summary: 'Which series a folder would give',
    description:
      'Looks at names only, for some seconds at most; `isComplete` says whether it saw all. Metadata inside the files may name series otherwise.',
    body: body({
      path,
      ...seriesFields,
      allowedFormats: ruleFields.allowedFormats,
      excludedPatterns: ruleFields.excludedPatterns,
    }),
    responses: {
      200: record({
        detectedSeries: list(
          record({
            name: Type.String(),
            path: nullable(Type.String({ description: 'Relative to the folder.' })),
            bookCount: count(),
            sampleBooks: list(Type.String()),
            metadata: nullable(
              record({ publisher: nullable(Type.String()), author: nullable(Type.String()) }),
            ),
          }),
        ),
        totalSeries: count({ description: 'At most 1,000 of them are listed.' }),
        totalFiles: count(),
        isComplete: Type.Boolean(),
      }),
    },
    handle: ({ body, signal }, { config }) => previewLibrary(config, body, signal),
  }),
  route({
    method: 'GET',
    path: '/libraries/{id}',
    permission: 'LibrariesRead',
    summary: 'A library',
    params: Id,
    responses: { 200: Library },
    handle: ({ params, viewer }, { sql }) => libraryById(sql, viewer, params.id),
  }),
  route({
    method: 'PUT',
    path: '/libraries/{id}',
    also: [{ method: 'PATCH' }],
    permission: 'LibrariesWrite',
    summary: 'Change a library',
    description: `What is absent stays as it is; null clears what can be empty. A new folder keeps books and progress: the next scan finds them there. ${schedules}`,
    params: Id,
    body: change(
      {
        name: maybe(nullable(name)),
        path: maybe(nullable(path)),
        ...seriesFields,
        ...ruleFields,
        // Not a spelling but a member: whoever sends a library back changes one of the two.
        scanning_config: ruleFields.scanningConfig,
      },
      Library,
    ),
    responses: { 200: Library },
    handle: async ({ params, body, viewer }, { sql, queue, config }) => {
      const target = { viewer, id: params.id }
      await changeLibrary({ sql, queue, grounds: config }, target, body)
      return await libraryById(sql, viewer, params.id)
    },
  }),
  route({
    method: 'DELETE',
    path: '/libraries/{id}',
    permission: 'LibrariesDelete',
    summary: 'Remove a library',
    description:
      'Its series, books and their progress are gone at once, and erased in the background. Files on disk stay.',
    params: Id,
    responses: { 204: null },
    handle: async ({ params, viewer }, { sql, queue, identities }) => {
      await removeLibrary(sql, queue, { viewer, libraryId: params.id })
      identities.drop(everyone)
      return answer(204)
    },
  }),
]
