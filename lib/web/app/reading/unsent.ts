// Reading sessions that an earlier page could not send.
import { outboxPrefix } from './device.ts'

/** Sends them in the background; the outbox is loaded only when there are any. */
export function sendUnsent() {
  if (Object.keys(localStorage).some(key => key.startsWith(outboxPrefix)))
    void import('./outbox.ts').then(({ sendStored }) => sendStored()).catch(() => {})
}
