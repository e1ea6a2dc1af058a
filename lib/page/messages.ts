// What goes to a page thread and what comes back.
import type { UnreadableCode } from '../errors.ts'
import type { FormatName, Limits } from '../format/contract.ts'
import type { EpubContents } from '../format/epub/contents.ts'
import type { Keep, Kept } from './cache-write.ts'
import type { Directory } from './directory.ts'
import type { Variant } from './variant.ts'

/** A book's file. Paths are latin1: bytes one to one. */
export type Place = {
  path: string
  root: string
  extension: string
  format: FormatName
  size: number
  modifiedMs: number
  /** The packed page list; null when the file is not the one that it was made from. */
  packed: Uint8Array | null
  limits: Limits
}

/** One page, made into `variant` where that is not null, and kept where `keep` says. */
export type PageOrder = {
  place: Place
  index: number
  variant: Variant | null
  keep: Keep | null
  /** Where the original may be kept. */
  source: Keep | null
}

/** The front cover of a book, made into `variant`. */
export type FrontOrder = { place: Place; variant: Variant; keep: Keep | null }

/** Pages from `index` on, one for each place to keep them. */
export type RunOrder = { place: Place; index: number; keeps: Keep[] }

export type ConvertOrder = { bytes: Uint8Array; variant: Variant; keep: Keep | null }

/** What is in an EPUB, and where its resources lie, by their numbers. */
export type Epub = { contents: EpubContents; directory: Directory }

/** The resource of that name of an EPUB. */
export type MemberOrder = { place: Place; name: string }

export type Member = { bytes: Uint8Array }

/** An image that is to become a cover of at most `maxSide` pixels. */
export type CoverOrder = {
  bytes: Uint8Array
  maxSide: number
  format: 'jpeg' | 'webp'
  quality: number
}

/** A cover as it is kept; the type and the pixels are those of what it was made of. */
export type Cover = {
  bytes: Uint8Array
  mediaType: string
  width: number | null
  height: number | null
}

/** An image; `bytes` is null when it was kept under its key. */
export type Image = { bytes: Uint8Array | null; mediaType: string; kept: Kept[] }

/**
 * `changed`: the file is another one than the order says; `gone`: there is none.
 * Errors are values here: what is thrown loses its kind on the way between threads.
 */
export type Answer<T> =
  | { value: T }
  | { changed: { size: number; modifiedMs: number } }
  | { error: { code: UnreadableCode; message: string }; gone: boolean }
  | { absent: true }
