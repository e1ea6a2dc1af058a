// Names of what is sent: strong entity tags, and the keys of the page cache. Both follow from the
// file's place in time and what was asked, so that no content is read for them.
import { hash } from 'node:crypto'
import type { Asked } from './variant.ts'

/** A book's file at a moment. */
export type Version = { id: string; size: number; modifiedMs: number }

// Raised when the same request gives other bytes than in the release before.
const edition = 1

export const versionKey = ({ id, size, modifiedMs }: Version): string =>
  `${id} ${size} ${modifiedMs}`

/** Strong entity tag, with its quotes, of page `index` as it is asked for. */
export function pageTag(version: Version, index: number, asked: Asked = {}): string {
  const { width = 0, height = 0, format = '' } = asked
  return tag(`page ${versionKey(version)} ${index} ${width} ${height} ${format}`)
}

/** Strong entity tag, with its quotes, of a whole file. */
export const fileTag = (version: Version): string => tag(`file ${versionKey(version)}`)

/** Entity tag, with its quotes, of a resource of an EPUB; weak, because texts are sent packed as well. */
export const memberTag = (version: Version, name: string): string =>
  `W/${tag(`member ${versionKey(version)} ${name}`)}`

/** Name of a page in the page cache; lower-case hex, because some file systems fold case. */
export function pageKey(version: Version, index: number, variant: Asked | null): string {
  const { width = 0, height = 0, format = 'original' } = variant ?? {}
  const said = `${edition} ${versionKey(version)} ${index} ${width} ${height} ${format}`
  return hash('sha256', said, 'hex').slice(0, 32)
}

const tag = (said: string) => `"${hash('sha256', `${edition} ${said}`, 'base64url').slice(0, 22)}"`
