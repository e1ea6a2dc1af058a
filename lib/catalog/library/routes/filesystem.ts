// Server directory browser, for choosing the folder of a library.
import { constants } from 'node:fs'
import { access, opendir, realpath, stat } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { dirname } from 'node:path'
import { Forbidden, Invalid, isShortage } from '../../../base/errors.ts'
import { joinPath, pathText } from '../../../base/path.ts'
import {
  component,
  list,
  maybe,
  nullable,
  record,
  type Static,
  Type,
  text,
} from '../../../base/schema.ts'
import { isSpecial } from '../../../base/special-folders.ts'
import { paged, shortListQuery, shortListResponse } from '../../../http/pagination.ts'
import { route } from '../../../http/route.ts'
import { folderHealth, mountKey } from '../../../store/mount/mount-health.ts'
import {
  type FilesystemConfig,
  isPermittedPath,
  permittedRoots,
  resolvePath,
} from '../library-root.ts'

const limits = { entries: 5_000, read: 100_000, concurrency: 16 }

const Entry = component('FileSystemEntry', {
  name: Type.String(),
  path: Type.String({ description: 'Absolute path.' }),
  isDirectory: Type.Boolean(),
  isReadable: Type.Boolean({ description: 'Whether the server can read it now.' }),
})
type Entry = Static<typeof Entry>

const DirectoryListing = component('DirectoryListing', {
  currentPath: Type.String(),
  parentPath: nullable(Type.String()),
  entries: list(Entry),
  isTruncated: Type.Boolean({ description: 'Whether more entries exist than are listed.' }),
})

export const filesystem = [
  route('GET /filesystem/browse', {
    operationId: 'browseFilesystem',
    permission: 'SystemAdmin',
    // Disks that do not respond must not block lists, and this runs no statement.
    cost: 'record',
    summary: 'List a directory of the server',
    description:
      'Directories first, then files, sorted by name. Limited to the directories that the configuration permits.',
    query: record({
      path: maybe(
        text(4096, {
          description: "Absolute path; defaults to the server's home directory.",
          examples: ['/media/comics'],
        }),
      ),
      includeHidden: maybe(
        Type.Boolean({
          default: false,
          description: 'Includes entries whose names begin with a dot.',
        }),
      ),
    }),
    responses: { 200: DirectoryListing },
    handle: ({ query }, { config }) => browse(config, query.path, query),
  }),
  route('GET /filesystem/drives', {
    operationId: 'listDrives',
    aliases: [{ path: '/filesystem/drivesSee', operationId: 'listDrivesLegacy' }],
    permission: 'SystemAdmin',
    cost: 'record',
    summary: 'List drives and common directories',
    query: record(shortListQuery),
    responses: { 200: paged(Entry) },
    handle: async (input, { config }) => shortListResponse(input, await listDrives(config)),
  }),
]

type BrowseOptions = { includeHidden?: boolean | undefined }

/** The entries of a folder. Throws Forbidden, Invalid. */
export async function browse(
  config: FilesystemConfig,
  requestedPath: string | undefined,
  { includeHidden = false }: BrowseOptions = {},
) {
  const roots = await permittedRoots(config)
  const first = roots?.[0] && pathText(roots[0])
  const folder = await resolvePath(requestedPath ?? first ?? homeFolder(), 'path')
  if (!isPermittedPath(folder, roots) || isSpecial(folder))
    throw new Forbidden('Browsing this directory is not permitted')
  return await folderHealth.run(mountKey(folder), () => listFolder(folder, roots, includeHidden))
}

async function listFolder(folder: Buffer, roots: Buffer[] | null, includeHidden: boolean) {
  const { names, isTruncated } = await namesIn(folder, includeHidden)
  const entries: Entry[] = []
  for (let i = 0; i < names.length; i += limits.concurrency) {
    const batch = names.slice(i, i + limits.concurrency)
    const inspected = await Promise.all(batch.map(name => inspect(roots, folder, name)))
    entries.push(...inspected.filter(entry => entry !== null))
  }
  // Sorted again: a symbolic link counts as a file until its target is known.
  entries.sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || byName(a, b))
  const parent = await resolvePath(dirname(pathText(folder)), 'path')
  const hasParent = !parent.equals(folder) && isPermittedPath(parent, roots)
  return {
    currentPath: pathText(folder),
    parentPath: hasParent ? pathText(parent) : null,
    entries,
    isTruncated,
  }
}

type Name = { bytes: Buffer; name: string; isDirectory: boolean }

/** The first names of a directory. Throws Invalid if it cannot be listed. */
async function namesIn(folder: Buffer, includeHidden: boolean) {
  const names: Name[] = []
  let read = 0
  try {
    const directory = await opendir(folder, { encoding: 'buffer' as never, bufferSize: 512 })
    for await (const entry of directory) {
      if (++read > limits.read) break
      const bytes = Buffer.from(entry.name)
      const name = pathText(bytes)
      if (includeHidden || !name.startsWith('.'))
        names.push({ bytes, name, isDirectory: entry.isDirectory() })
    }
  } catch (error) {
    if (isShortage(error)) throw error
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new Invalid(`${pathText(folder)} is not a readable directory (${code})`, {
      details: { code },
    })
  }
  names.sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || byName(a, b))
  const isTruncated = read > limits.read || names.length > limits.entries
  return { names: names.slice(0, limits.entries), isTruncated }
}

/** Null for a symbolic link to a path that is not permitted. */
async function inspect(
  roots: Buffer[] | null,
  folder: Buffer,
  { bytes, name }: Name,
): Promise<Entry | null> {
  const path = joinPath(folder, bytes)
  const entry = { name, path: pathText(path) }
  try {
    const target = await realpath(path, { encoding: 'buffer' })
    if (!isPermittedPath(target, roots)) return null
    const isDirectory = (await stat(target)).isDirectory()
    return { ...entry, isDirectory, isReadable: await isReadable(target, isDirectory) }
  } catch {
    return { ...entry, isDirectory: false, isReadable: false }
  }
}

function isReadable(path: Buffer, isDirectory: boolean): Promise<boolean> {
  const mode = isDirectory ? constants.R_OK | constants.X_OK : constants.R_OK
  return access(path, mode).then(
    () => true,
    () => false,
  )
}

/** The permitted roots, or common folders of the server. */
export async function listDrives(config: FilesystemConfig): Promise<Entry[]> {
  const roots = await permittedRoots(config)
  const candidates = roots
    ? roots.map(root => ({ name: pathText(root), path: root }))
    : commonDirectories().map(([name, path]) => ({ name, path: Buffer.from(path) }))
  const drives: Entry[] = []
  for (const { name, path } of candidates) {
    const drive = await folderHealth
      .run(mountKey(path), async () =>
        (await stat(path)).isDirectory() ? isReadable(path, true) : null,
      )
      .catch(() => null)
    if (drive === null) continue
    drives.push({ name, path: pathText(path), isDirectory: true, isReadable: drive })
  }
  return drives
}

/** Falls back to the root for a user id that is not in the user database and has no `HOME`. */
function homeFolder(): string {
  try {
    return homedir()
  } catch {
    return '/'
  }
}

function commonDirectories(): [string, string][] {
  const home: [string, string] = ['Home Directory', homeFolder()]
  if (platform() !== 'win32') {
    return [
      ['Root', '/'],
      ['Home', '/home'],
      ['Mount Points', '/mnt'],
      ['Media', '/media'],
      ['Volumes', '/Volumes'],
      home,
    ]
  }
  const letters = Array.from({ length: 26 }, (_, i) => `${String.fromCharCode(65 + i)}:`)
  return [...letters.map((letter): [string, string] => [letter, `${letter}\\`]), home]
}

const byName = (a: { name: string }, b: { name: string }) =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0
