// ETags of files, derived from id, size and modification time, so that no content needs to be read.
import { hash } from 'node:crypto'

/** A file at a point in time. */
export type FileVersion = { id: string; size: number; modifiedMs: number }

/** Incremented when the same request returns different bytes than in the previous release. */
export const contentVersion = 1

export const versionKey = ({ id, size, modifiedMs }: FileVersion): string =>
  `${id} ${size} ${modifiedMs}`

/** Strong ETag, with its quotes, of what `key` identifies. */
export const strongEtag = (key: string): string =>
  `"${hash('sha256', `${contentVersion} ${key}`, 'base64url').slice(0, 22)}"`

/** Strong ETag, with its quotes, of a whole file. */
export const fileEtag = (version: FileVersion): string => strongEtag(`file ${versionKey(version)}`)
