// Last shown page of a book in this tab, restored by a reload even if nothing is recorded.
import { clockOffset } from '../api/clock.ts'
import { readStoredJson, writeStorage } from '../api/storage.ts'

const storageKey = 'stackroom.reader.position'

/** `isJump`: reached without reading up to it. */
type LocalPosition = { bookId: string; page: number; isJump: boolean; at: number }

export function localPosition(bookId: string): LocalPosition | null {
  const stored = readStoredJson<LocalPosition>(storageKey, 'sessionStorage')
  return stored?.bookId === bookId ? stored : null
}

export function storeLocalPosition(position: Omit<LocalPosition, 'at'>): void {
  const stored: LocalPosition = { ...position, at: Date.now() + clockOffset() }
  writeStorage(storageKey, JSON.stringify(stored), 'sessionStorage')
}

/** Called after a mark as read or unread, which is newer. */
export const forgetLocalPosition = (): void => writeStorage(storageKey, null, 'sessionStorage')
