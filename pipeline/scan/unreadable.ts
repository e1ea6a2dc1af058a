// What a walk could not read, as a message: folders that cannot be listed, and files whose stat fails.
import { childPath, pathText } from '../../lib/base/path.ts'
import type { Listing } from './walk.ts'

/** How many there are, and some of their paths, relative to the library; '' is its root. */
export type Unreadable = { unreadable: number; unreadableNames: string[] }

export const nothingUnreadable: Unreadable = { unreadable: 0, unreadableNames: [] }
const maxNames = 5

export function addUnreadableNames(names: string[], batch: Listing[]) {
  for (const { path, error, unreadable } of batch) {
    if (names.length >= maxNames) return
    const paths = error ? [path] : unreadable.map(name => childPath(path, name))
    const texts = paths.map(path => pathText(Buffer.from(path, 'latin1')))
    names.push(...texts.slice(0, maxNames - names.length))
  }
}

/** "7 folders or files could not be read; their books were left unchanged: Lost/Row, Alien, …" */
export function unreadableMessage({ unreadable, unreadableNames }: Unreadable): string | null {
  if (unreadable === 0) return null
  const subject =
    unreadable === 1
      ? 'A folder or file could not be read; its books were left unchanged'
      : `${unreadable} folders or files could not be read; their books were left unchanged`
  const names = unreadableNames.map(name => name || 'the library folder').join(', ')
  return `${subject}: ${names}${unreadable > unreadableNames.length ? ', …' : ''}`
}
