// Reading sessions that an earlier page could not send.
import { storedKeys } from '../api/storage.ts'
import { outboxPrefix } from './device.ts'

/** Sends them in the background; the outbox is loaded only when there are any. */
export function sendUnsent() {
  if (storedKeys(outboxPrefix).length > 0)
    void import('./outbox.ts').then(({ sendStored }) => sendStored()).catch(() => {})
}
