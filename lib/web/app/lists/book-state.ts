// State of a book: unread, in progress, read, missing or unreadable; progress and format.
import type { Schemas } from '../api/client.ts'

type BookFields = Pick<
  Schemas['Book'],
  'deleted' | 'errorCode' | 'readProgress' | 'pageCount' | 'fileFormat'
>
export type BookState = 'unread' | 'reading' | 'read' | 'missing' | 'error'

export function bookState({ deleted, errorCode, readProgress }: BookFields): BookState {
  if (deleted) return 'missing'
  if (errorCode !== null) return 'error'
  if (!readProgress) return 'unread'
  return readProgress.completed ? 'read' : 'reading'
}

/** From 0 to 1. */
export function bookProgress({ readProgress, pageCount }: BookFields): number {
  if (!readProgress) return 0
  if (readProgress.completed) return 1
  if (readProgress.progressPercentage != null) return readProgress.progressPercentage
  return pageCount > 0 ? readProgress.currentPage / pageCount : 0
}

export const bookFormat = ({ fileFormat }: BookFields): string => fileFormat.toUpperCase()

/** Whether the reader can open it. */
export const isReadable = ({ deleted, errorCode, fileFormat, pageCount }: BookFields): boolean =>
  !deleted && errorCode === null && (pageCount > 0 || fileFormat === 'epub')
