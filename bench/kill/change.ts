// Random changes to a library between scans: files and folders are renamed, moved, added, touched and
// deleted. Books with progress are moved, never deleted.
import { appendFileSync, copyFileSync, existsSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Random } from '../../test/kit/random.ts'
import type { Followed } from './truth.ts'
import { booksOf } from './truth.ts'

const maxChanges = 12

let counter = 0

/** Changes a few things and returns how many. */
export function changeLibrary(library: string, followed: Followed[], random: Random): number {
  const files = booksOf(library)
  const folders = [...new Set(files.map(dirname))].filter(folder => folder !== '.')
  const count = 1 + Math.floor(random.next() * maxChanges)
  let changed = 0
  for (let i = 0; i < count; i++) {
    const file = random.next() < 0.5 ? random.pick(followed)?.path : random.pick(files)
    if (file === undefined || !existsSync(join(library, file))) continue
    const folder = random.pick(folders)
    // As of now: an earlier change may have moved the book.
    const isFollowed = followed.some(f => f.path === file)
    changed += Number(change(library, { file, folder, followed, isFollowed, random }))
  }
  return changed
}

type Case = {
  file: string
  folder: string
  followed: Followed[]
  isFollowed: boolean
  random: Random
}

function change(library: string, { file, folder, followed, isFollowed, random }: Case): boolean {
  counter += 1
  const at = (path: string) => join(library, path)
  const beside = join(dirname(file), `${counter} ${basename(file)}`)
  const choice = random.next()
  if (choice < 0.25) return move(library, { from: file, to: beside, followed })
  if (choice < 0.5 && existsSync(at(folder))) {
    return move(library, { from: file, to: join(folder, `${counter} ${basename(file)}`), followed })
  }
  if (choice < 0.6 && dirname(file) !== '.') {
    return move(library, { from: dirname(file), to: `${dirname(file)} ${counter}`, followed })
  }
  if (choice < 0.75) {
    copyFileSync(at(file), at(beside))
    // No copy: a reader ignores what follows the end of an archive, a hash does not.
    appendFileSync(at(beside), `\n${counter}`)
    return true
  }
  if (choice < 0.9 || isFollowed) {
    utimesSync(at(file), new Date(), new Date(Date.now() - counter * 1000))
    return true
  }
  rmSync(at(file))
  return true
}

function move(
  library: string,
  { from, to, followed }: { from: string; to: string; followed: Followed[] },
) {
  if (existsSync(join(library, to))) return false
  renameSync(join(library, from), join(library, to))
  for (const book of followed) {
    if (book.path === from) book.path = to
    else if (book.path.startsWith(`${from}/`)) book.path = to + book.path.slice(from.length)
  }
  return true
}
