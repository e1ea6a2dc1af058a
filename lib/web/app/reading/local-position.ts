// The page of a book that this tab showed last, which a reload opens again also when nothing is recorded.
import { clockOffset } from '../api/clock.ts'
import { readStorage, writeStorage } from '../api/storage.ts'

const storageKey = 'stackroom.reader.position'

/** `isJump`: the reader did not read up to it. */
type LocalPosition = { bookId: string; page: number; isJump: boolean; at: number }

export function localPosition(bookId: string): LocalPosition | null {
  try {
    const stored: LocalPosition | null = JSON.parse(
      readStorage(storageKey, 'sessionStorage') ?? 'null',
    )
    return stored?.bookId === bookId ? stored : null
  } catch {
    return null
  }
}

export function storeLocalPosition(position: Omit<LocalPosition, 'at'>): void {
  const stored: LocalPosition = { ...position, at: Date.now() + clockOffset() }
  writeStorage(storageKey, JSON.stringify(stored), 'sessionStorage')
}

/** After a mark as read or unread, which is newer. */
export const forgetLocalPosition = (): void => writeStorage(storageKey, null, 'sessionStorage')
