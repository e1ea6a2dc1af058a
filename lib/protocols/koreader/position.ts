// Positions of KOReader: a page number, or an XPointer of its EPUB engine (crengine) with the fraction read.

import { type FormatName, isReflowable } from '../../media/format/formats.ts'
import type { PositionUpdate } from '../../reading/position.ts'

/** How a document was found: by the partial MD5 of the file, or by the MD5 of its name. */
export type DocumentMatch = 'content' | 'filename'

/** In the form that the device writes and reads. */
export type KoreaderPosition = {
  /** `12`, or `/body/DocFragment[5]/body/p[3]/text().0`. */
  progress: string
  /** 0 to 1. */
  percentage: number
  device: string
  device_id: string
  /** How the writing device identified its document; absent if computed by the server. */
  match?: DocumentMatch
}

export type KoreaderBook = { format: FormatName | null; pageCount: number }

/** A page of a comic or PDF; a fraction of a text, whose pages depend on the device. */
export function toPositionUpdate(
  { progress, percentage }: Pick<KoreaderPosition, 'progress' | 'percentage'>,
  { format, pageCount }: KoreaderBook,
): PositionUpdate {
  const page = /^\d{1,6}$/.test(progress) ? Number(progress) : null
  if (isReflowable(format) || page === null || page < 1) return { progressPercentage: percentage }
  return { currentPage: pageCount > 0 ? Math.min(page, pageCount) : page }
}
