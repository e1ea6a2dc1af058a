// Reading sessions left unsent by an earlier page.
import { storedKeys } from '../api/storage.ts'
import { outboxPrefix } from './device.ts'

/** Sends them in the background; the outbox module is loaded only if there are any. */
export function sendUnsent() {
  if (storedKeys(outboxPrefix).length > 0)
    void import('./outbox.ts').then(({ sendStored }) => sendStored()).catch(() => {})
}
