// What happens to a library while nobody looks: files and folders are renamed, moved, added,
// touched and deleted. Followed books are moved, never deleted.
import { appendFileSync, copyFileSync, existsSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pick, type Random } from './random.ts'
import type { Followed } from './truth.ts'
import { booksOf } from './truth.ts'

const most = 12

let made = 0

/** Changes a few things and returns how many. */
export function changeLibrary(library: string, followed: Followed[], chance: Random): number {
  const files = booksOf(library)
  const folders = [...new Set(files.map(dirname))].filter(folder => folder !== '.')
  const isFollowed = new Set(followed.map(f => f.path))
  const count = 1 + Math.floor(chance() * most)
  let changed = 0
  for (let i = 0; i < count; i++) {
    const file = chance() < 0.5 ? pick(followed, chance)?.path : pick(files, chance)
    if (file === undefined || !existsSync(join(library, file))) continue
    const folder = pick(folders, chance)!
    changed += Number(
      change(library, { file, folder, followed, isFollowed: isFollowed.has(file), chance }),
    )
  }
  return changed
}

type Case = {
  file: string
  folder: string
  followed: Followed[]
  isFollowed: boolean
  chance: Random
}

function change(library: string, { file, folder, followed, isFollowed, chance }: Case): boolean {
  made += 1
  const at = (path: string) => join(library, path)
  const beside = join(dirname(file), `${made} ${basename(file)}`)
  const dice = chance()
  if (dice < 0.25) return move(library, { from: file, to: beside, followed })
  if (dice < 0.5 && existsSync(at(folder))) {
    return move(library, { from: file, to: join(folder, `${made} ${basename(file)}`), followed })
  }
  if (dice < 0.6 && dirname(file) !== '.') {
    return move(library, { from: dirname(file), to: `${dirname(file)} ${made}`, followed })
  }
  if (dice < 0.75) {
    copyFileSync(at(file), at(beside))
    // No copy: a reader ignores what follows the end of an archive, a hash does not.
    appendFileSync(at(beside), `\n${made}`)
    return true
  }
  if (dice < 0.9 || isFollowed) {
    utimesSync(at(file), new Date(), new Date(Date.now() - made * 1000))
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
