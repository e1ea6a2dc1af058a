// Server directory browser of the Komga-compatible API.

import { component, list, maybe, nullable, record, Type, text } from '../../../../base/schema.ts'
import { browse, listDrives } from '../../../../catalog/library/routes/filesystem.ts'
import { route } from '../../../../http/route.ts'

const PathDto = component('PathDto', {
  type: Type.String(),
  name: Type.String(),
  path: Type.String(),
})
type Entry = { name: string; path: string; isDirectory: boolean }

export const filesystem = [
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
