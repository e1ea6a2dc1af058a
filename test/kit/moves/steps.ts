// Random steps on the folder of a library, as people take them: files, folders and the root are moved, renamed,
// swapped, split, merged and brought back. Names are few, so that places are used again.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { comic } from '../library.ts'
import type { Random } from '../random.ts'

/** A library on disk. `base` contains all roots that it may have. */
export type Shelf = {
  id: string
  base: string
  root: string
  /** As it was at the last scan. */
  scannedRoot: string
  /** Where files go that leave the library. */
  trash: string
  /** Absolute paths that changed since the last scan. */
  changed: Set<string>
  /** Renames that may be taken back. */
  renames: { from: string; to: string }[]
}

const folderNames = ['Amber', 'Basalt', 'Coral', 'Dune', 'Ember', 'Fjord', 'Grove', 'Heath']
const fileNames = ['Anna', 'Bruno', 'Clara', 'David', 'Edith', 'Felix', 'Greta', 'Hugo', 'Irene']
const maxFiles = 40
let clock = 1_600_000_000

/** Absolute paths below a folder. */
export function listTree(root: string): { files: string[]; folders: string[] } {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  const pathsOf = (wanted: typeof entries) =>
    wanted.map(entry => join(entry.parentPath, entry.name)).sort()
  return {
    files: pathsOf(entries.filter(entry => entry.isFile())),
    folders: pathsOf(entries.filter(entry => entry.isDirectory())),
  }
}

/** Fills an empty root. */
export function fillShelf(shelf: Shelf, random: Random, count: number) {
  for (let i = 0; i < count; i++) addFile(shelf, random)
}

/** Takes a step; returns what it was, or null when it is not possible now. */
export function takeStep(shelf: Shelf, other: Shelf, random: Random): string | null {
  const step = random.pick(steps)
  const moved = step(shelf, random, other)
  return moved === null ? null : `${step.name} ${moved}`
}

type Step = (shelf: Shelf, random: Random, other: Shelf) => string | null

const steps: Step[] = [
  ...[moveFile, moveFile, renameFile, swapFiles, renameFolder, renameFolder, moveFolder],
  ...[swapFolders, splitFolder, mergeFolder, nestAll, flatten, takeBack, takeBack, takeBack],
  ...[discard, restore, addFile, copyFile, changeLibrary, raiseRoot, lowerRoot, renameRoot],
]

function rename(shelf: Shelf, from: string, to: string): string | null {
  if (existsSync(to) || to.startsWith(`${from}/`)) return null
  mkdirSync(dirname(to), { recursive: true })
  renameSync(from, to)
  for (const path of [from, to]) shelf.changed.add(path)
  shelf.renames.push({ from, to })
  return `${nameOf(shelf, from)} → ${nameOf(shelf, to)}`
}

/** With the library, for the log. */
const nameOf = ({ base }: Shelf, path: string) => relative(dirname(dirname(base)), path)

const newFile = (folder: string, random: Random) => join(folder, `${random.pick(fileNames)}.cbz`)
const isInside = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

function anyFolder({ root }: Shelf, random: Random): string {
  const { folders } = listTree(root)
  const folder = random.pick([root, ...folders, ...folders, ...folders])
  return random.chance(0.2) ? join(folder, random.pick(folderNames)) : folder
}

function anyFile({ root }: Shelf, random: Random): string {
  return random.pick(listTree(root).files)
}

/** Two folders of which none contains the other. */
function twoFolders({ root }: Shelf, random: Random): [string, string] | null {
  const { folders } = listTree(root)
  if (folders.length < 2) return null
  const [a, b] = [random.pick(folders), random.pick(folders)]
  return isInside(a, b) || isInside(b, a) ? null : [a, b]
}

function moveFile(shelf: Shelf, random: Random) {
  const file = anyFile(shelf, random)
  const folder = anyFolder(shelf, random)
  return rename(
    shelf,
    file,
    random.chance(0.7) ? join(folder, basename(file)) : newFile(folder, random),
  )
}

function renameFile(shelf: Shelf, random: Random) {
  const file = anyFile(shelf, random)
  return rename(shelf, file, newFile(dirname(file), random))
}

function swap(shelf: Shelf, a: string, b: string) {
  if (a === b) return null
  // Outside all roots.
  const between = join(dirname(shelf.base), 'between')
  renameSync(a, between)
  rename(shelf, b, a)
  renameSync(between, b)
  return `${nameOf(shelf, a)} ↔ ${nameOf(shelf, b)}`
}

function swapFiles(shelf: Shelf, random: Random) {
  return swap(shelf, anyFile(shelf, random), anyFile(shelf, random))
}

function swapFolders(shelf: Shelf, random: Random) {
  const folders = twoFolders(shelf, random)
  return folders && swap(shelf, ...folders)
}

function renameFolder(shelf: Shelf, random: Random) {
  const { folders } = listTree(shelf.root)
  if (folders.length === 0) return null
  const folder = random.pick(folders)
  return rename(shelf, folder, join(dirname(folder), random.pick(folderNames)))
}

function moveFolder(shelf: Shelf, random: Random) {
  const { folders } = listTree(shelf.root)
  if (folders.length === 0) return null
  const folder = random.pick(folders)
  return rename(shelf, folder, join(anyFolder(shelf, random), basename(folder)))
}

/** Half of the files of a folder go into a new one. */
function splitFolder(shelf: Shelf, random: Random) {
  const { folders } = listTree(shelf.root)
  if (folders.length === 0) return null
  const folder = random.pick(folders)
  const half = filesOf(folder).filter((_, i) => i % 2 === 0)
  const target = join(random.pick([folder, dirname(folder)]), random.pick(folderNames))
  if (half.length === 0 || existsSync(target)) return null
  return moveAll(shelf, half, target)
}

const filesOf = (folder: string) =>
  readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(folder, entry.name))

function moveAll(shelf: Shelf, paths: string[], target: string) {
  const moved = paths.filter(path => rename(shelf, path, join(target, basename(path))) !== null)
  return `${moved.length} of ${paths.length} → ${nameOf(shelf, target)}`
}

/** All of one folder goes into another. */
function mergeFolder(shelf: Shelf, random: Random) {
  const folders = twoFolders(shelf, random)
  return folders && mergeInto(shelf, ...folders)
}

function mergeInto(shelf: Shelf, from: string, to: string) {
  const moved = moveAll(
    shelf,
    readdirSync(from).map(name => join(from, name)),
    to,
  )
  if (readdirSync(from).length === 0) rmdirSync(from)
  return `${nameOf(shelf, from)}: ${moved}`
}

/** Everything goes into one folder. */
function nestAll(shelf: Shelf, random: Random) {
  const target = join(shelf.root, random.pick(folderNames))
  if (existsSync(target) || !random.chance(0.5)) return null
  return moveAll(
    shelf,
    readdirSync(shelf.root).map(name => join(shelf.root, name)),
    target,
  )
}

/** All of a folder goes into the one above. */
function flatten(shelf: Shelf, random: Random) {
  const { folders } = listTree(shelf.root)
  if (folders.length === 0) return null
  const folder = random.pick(folders)
  return mergeInto(shelf, folder, dirname(folder))
}

/** What was moved before goes back to where it was. */
function takeBack(shelf: Shelf, random: Random) {
  const known = shelf.renames.filter(
    ({ from, to }) => isInside(to, shelf.root) && isInside(from, shelf.root) && existsSync(to),
  )
  if (known.length === 0) return null
  const { from, to } = random.pick(known)
  return rename(shelf, to, from)
}

/** A file leaves the library. */
function discard(shelf: Shelf, random: Random) {
  if (listTree(shelf.root).files.length < maxFiles / 2) return null
  const file = anyFile(shelf, random)
  return rename(shelf, file, join(shelf.trash, `${random.hex(8)} ${basename(file)}`))
}

/** A file returns to the library, to another place than before or to the same. */
function restore(shelf: Shelf, random: Random) {
  const files = filesOf(shelf.trash)
  if (files.length === 0) return null
  const file = random.pick(files)
  return rename(shelf, file, join(anyFolder(shelf, random), basename(file).slice(9)))
}

function addFile(shelf: Shelf, random: Random) {
  const path = newFile(anyFolder(shelf, random), random)
  if (existsSync(path) || listTree(shelf.root).files.length >= maxFiles) return null
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, comic({ pages: 1 }))
  setNewTime(path)
  shelf.changed.add(path)
  return nameOf(shelf, path)
}

/** Files of the same size and time that change places are the same for a normal scan. */
function setNewTime(path: string) {
  clock += 1
  utimesSync(path, clock, clock)
}

function copyFile(shelf: Shelf, random: Random) {
  const to = newFile(anyFolder(shelf, random), random)
  if (existsSync(to) || listTree(shelf.root).files.length >= maxFiles) return null
  mkdirSync(dirname(to), { recursive: true })
  const from = anyFile(shelf, random)
  copyFileSync(from, to)
  setNewTime(to)
  shelf.changed.add(to)
  return `${nameOf(shelf, from)} → ${nameOf(shelf, to)}`
}

/** A file goes to the other library. */
function changeLibrary(shelf: Shelf, random: Random, other: Shelf) {
  if (listTree(shelf.root).files.length < maxFiles / 2) return null
  const from = anyFile(shelf, random)
  const to = join(anyFolder(other, random), basename(from))
  const moved = rename(shelf, from, to)
  if (moved !== null) other.changed.add(to)
  return moved
}

/** The root is corrected to the folder above. */
function raiseRoot(shelf: Shelf) {
  if (shelf.root === shelf.base) return null
  shelf.root = dirname(shelf.root)
  return nameOf(shelf, shelf.root)
}

/** The root is corrected to a folder that holds nearly everything. */
function lowerRoot(shelf: Shelf) {
  const { files, folders } = listTree(shelf.root)
  const holds = (folder: string) => files.filter(file => isInside(file, folder)).length
  const folder = folders.find(folder => holds(folder) > files.length * 0.8)
  if (folder === undefined) return null
  shelf.root = folder
  return nameOf(shelf, folder)
}

/** The root folder gets another name, and the library follows. */
function renameRoot(shelf: Shelf, random: Random) {
  if (shelf.root === shelf.base) return null
  const to = join(dirname(shelf.root), random.pick(folderNames))
  const moved = rename(shelf, shelf.root, to)
  if (moved !== null) shelf.root = to
  return moved
}
