// Outbox of reading sessions: stored in the browser until the server has acknowledged them.
import { api, type Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { connection } from '../api/events.ts'
import { preview } from '../api/preview.ts'
import { account } from '../api/session.ts'
import { readStorage, storedKeys, writeStorage } from '../api/storage.ts'
import { outboxPrefix } from './device.ts'

export type StoredSession = Schemas['ReadingSession'] & { id: string; bookId: string }

// Browsers limit keepalive requests to 64 KiB in total.
const maxBatchLength = 12_000
const minRetryMs = 5_000
const maxRetryMs = 120_000

const prefixOf = (accountId: string) => `${outboxPrefix}${accountId}:`

let latest: StoredSession | null = null

/** End of this tab's latest session in a book, as ISO time; positions up to then are its own. */
export const lastRecordedAt = (bookId: string): string =>
  latest?.bookId === bookId ? (latest.clientEndedAt ?? '') : ''

/** Stores a session and sends it. `keepalive`: also when the page is closed. */
export function recordSession(session: StoredSession, { keepalive = false } = {}): Promise<void> {
  const accountId = account.value?.id
  if (accountId === undefined) return Promise.resolve()
  latest = session
  // One entry each, because tabs write concurrently. Entries belong to the account that was reading.
  writeStorage(prefixOf(accountId) + session.id, JSON.stringify(session))
  return sendStored({ keepalive })
}

let sending: Promise<void> | null = null
let retry: ReturnType<typeof setTimeout> | undefined
let retryMs = minRetryMs

/** Sends stored sessions. Sending twice is harmless, because the server knows the ids. */
export function sendStored({ keepalive = false } = {}): Promise<void> {
  // A closing page cannot wait for the previous request.
  if (keepalive) return sendAll({ keepalive })
  sending = (sending ?? Promise.resolve())
    .then(() => sendAll({ keepalive }))
    .finally(() => {
      sending = null
    })
  return sending
}

async function sendAll({ keepalive }: { keepalive: boolean }): Promise<void> {
  clearTimeout(retry)
  const accountId = account.value?.id
  // In a preview the server would refuse them, and they would be lost.
  if (accountId === undefined || preview.value !== null) return
  const prefix = prefixOf(accountId)
  try {
    for (const batch of batchesOf(storedKeys(prefix))) await send(batch, { prefix, keepalive })
    retryMs = minRetryMs
  } catch {
    retry = setTimeout(sendStored, retryMs)
    retryMs = Math.min(maxRetryMs, retryMs * 2)
  }
}

function batchesOf(keys: readonly string[]): StoredSession[][] {
  const batches: StoredSession[][] = []
  let length = 0
  for (const key of keys) {
    const text = readStorage(key)
    if (text === null) continue
    if (batches.length === 0 || length + text.length > maxBatchLength) {
      batches.push([])
      length = 0
    }
    length += text.length
    batches.at(-1)!.push(JSON.parse(text))
  }
  return batches
}

/** Throws ApiError if another attempt may succeed. */
async function send(
  sessions: readonly StoredSession[],
  { prefix, keepalive }: { prefix: string; keepalive: boolean },
): Promise<void> {
  const forget = () => {
    for (const { id } of sessions) writeStorage(prefix + id, null)
  }
  try {
    await api.POST('/api/v1/reading-sessions', { body: { sessions: [...sessions] }, keepalive })
    // Rejected sessions, for example of deleted books, will never be accepted.
    forget()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // A refusal by a proxy has nothing to do with the sessions, so they stay stored.
    if (!error.isOfApi) throw error
    if (error.status === 400 && sessions.length > 1)
      for (const session of sessions) await send([session], { prefix, keepalive })
    else if ([400, 403].includes(error.status)) forget()
    else throw error
  }
}

addEventListener('online', () => void sendStored())
connection.subscribe(state => {
  if (state === 'connected') void sendStored()
})
