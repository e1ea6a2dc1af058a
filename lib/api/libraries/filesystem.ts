// The server's folders, for whoever picks the folder of a library. Administrators only.
import { constants } from 'node:fs'
import { access, opendir, realpath, stat } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { dirname } from 'node:path'
import { type Grounds, isOpen, openRoots, resolved } from '../../catalog/library/library-root.ts'
import { Forbidden, Invalid } from '../../errors.ts'
import { route } from '../../http/route.ts'
import { joinPath, pathText } from '../../path.ts'
import { list, maybe, nullable, record, Type, text } from '../../schema.ts'

const most = { entries: 5_000, read: 100_000, atOnce: 16 }

const Entry = record(
  {
    name: Type.String(),
    path: Type.String({ description: 'Absolute.' }),
    isDirectory: Type.Boolean(),
    isReadable: Type.Boolean({ description: 'By the server, at this moment.' }),
  },
  { component: 'FileSystemEntry' },
)
type Entry = { name: string; path: string; isDirectory: boolean; isReadable: boolean }

export const filesystem = [
  route({
    method: 'GET',
    path: '/filesystem/browse',
    permission: 'SystemAdmin',
    summary: 'What is in a folder of the server',
    description:
      'Folders first, then files, by name; names that begin with a dot are left out. Where the configuration opens certain folders only, nothing else is shown.',
    query: record({
      path: maybe(
        text(4096, { description: 'Absolute; without it the home folder of the server.' }),
      ),
    }),
    responses: {
      200: record({
        currentPath: Type.String(),
        parentPath: nullable(Type.String()),
        entries: list(Entry),
        isTruncated: Type.Boolean({ description: 'There is more than is listed.' }),
      }),
    },
    handle: ({ query }, { config }) => browse(config, query.path),
  }),
  route({
    method: 'GET',
    path: '/filesystem/drives',
    also: [{ path: '/filesystem/drivesSee' }],
    permission: 'SystemAdmin',
    summary: 'Where to begin to browse',
    responses: { 200: list(Entry) },
    handle: (_input, { config }) => drives(config),
  }),
]

async function browse(grounds: Grounds, asked: string | undefined) {
  const roots = await openRoots(grounds)
  const first = roots?.[0] && pathText(roots[0])
  const folder = await resolved(asked ?? first ?? homedir(), 'path')
  if (!isOpen(folder, roots)) throw new Forbidden('This folder is not open to browsing')
  const { names, isTruncated } = await namesIn(folder)
  const entries: Entry[] = []
  for (let i = 0; i < names.length; i += most.atOnce) {
    const some = names.slice(i, i + most.atOnce)
    const looked = await Promise.all(some.map(name => look(roots, folder, name)))
    entries.push(...looked.filter(entry => entry !== null))
  }
  // A link was taken for a file until it was looked at.
  entries.sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || byName(a, b))
  const parent = await resolved(dirname(pathText(folder)), 'path')
  const hasParent = !parent.equals(folder) && isOpen(parent, roots)
  return {
    currentPath: pathText(folder),
    parentPath: hasParent ? pathText(parent) : null,
    entries,
    isTruncated,
  }
}

type Name = { bytes: Buffer; name: string; isDirectory: boolean }

/** The first names of a folder. Throws Invalid for what is no folder. */
async function namesIn(folder: Buffer): Promise<{ names: Name[]; isTruncated: boolean }> {
  const names: Name[] = []
  let read = 0
  try {
    const directory = await opendir(folder, { encoding: 'buffer' as never, bufferSize: 512 })
    for await (const entry of directory) {
      if (++read > most.read) break
      const bytes = Buffer.from(entry.name)
      const name = pathText(bytes)
      if (!name.startsWith('.')) names.push({ bytes, name, isDirectory: entry.isDirectory() })
    }
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new Invalid(`${pathText(folder)} is no folder that can be listed (${code})`)
  }
  names.sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || byName(a, b))
  const isTruncated = read > most.read || names.length > most.entries
  return { names: names.slice(0, most.entries), isTruncated }
}

/** Null for a link that leads out of what is open. */
async function look(
  roots: Buffer[] | null,
  folder: Buffer,
  { bytes, name }: Name,
): Promise<Entry | null> {
  const path = joinPath(folder, bytes)
  const shown = { name, path: pathText(path) }
  try {
    const target = await realpath(path, { encoding: 'buffer' })
    if (!isOpen(target, roots)) return null
    const isDirectory = (await stat(target)).isDirectory()
    return { ...shown, isDirectory, isReadable: await isReadable(target, isDirectory) }
  } catch {
    return { ...shown, isDirectory: false, isReadable: false }
  }
}

function isReadable(path: Buffer, isDirectory: boolean): Promise<boolean> {
  const mode = isDirectory ? constants.R_OK | constants.X_OK : constants.R_OK
  return access(path, mode).then(
    () => true,
    () => false,
  )
}

async function drives(grounds: Grounds): Promise<Entry[]> {
  const roots = await openRoots(grounds)
  const places = roots
    ? roots.map(root => ({ name: pathText(root), path: root }))
    : usual().map(([name, path]) => ({ name, path: Buffer.from(path) }))
  const found: Entry[] = []
  for (const { name, path } of places) {
    const isDirectory = await stat(path).then(
      stats => stats.isDirectory(),
      () => false,
    )
    if (!isDirectory) continue
    const isReadableNow = await isReadable(path, true)
    found.push({ name, path: pathText(path), isDirectory, isReadable: isReadableNow })
  }
  return found
}

function usual(): [string, string][] {
  const home: [string, string] = ['Home Directory', homedir()]
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
