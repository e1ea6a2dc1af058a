// Preview of the application as another account sees it: in this tab, without changes, for administrators.
import { signal } from '@preact/signals'
import { readStoredJson, writeStorage } from './storage.ts'

export type Preview = {
  accountId: string
  username: string
  /** Read-only access token of the other account. */
  accessToken: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}

// A host may have several servers, each below its own path.
const storageKey = `stackroom.preview:${new URL(document.baseURI).pathname}`

/** Null outside a preview. */
export const preview = signal(readStoredJson<Preview>(storageKey, 'sessionStorage'))

export function storePreview(next: Preview | null) {
  preview.value = next
  writeStorage(storageKey, next && JSON.stringify(next), 'sessionStorage')
}
