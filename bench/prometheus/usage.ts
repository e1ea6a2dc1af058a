// Client load of every kind, so that every metric has a value.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from './processes.ts'

type Usage = Server & {
  library: string
  /** As of performance.now(). */
  until: number
}

const account = { username: 'bench', email: 'bench@example.org', password: 'a long pass phrase' }
const schedule = { enabled: true, cronSchedule: '0 3 * * *' }

/** Sets the server up, fills it from the folder, and reads in it until the time has come. */
export async function useServer({ base, token, library, until }: Usage) {
  const ask = async (
    method: string,
    path: string,
    asking: { body?: object; key?: string } = {},
  ) => {
    const response = await fetch(`${base}/api/v1${path}`, {
      method,
      headers: {
        ...(asking.body ? { 'content-type': 'application/json' } : {}),
        ...(asking.key ? { 'x-api-key': asking.key } : {}),
      },
      ...(asking.body ? { body: JSON.stringify(asking.body) } : {}),
    })
    const text = await response.text()
    return text.startsWith('{') ? JSON.parse(text) : null
  }
  const { accessToken } = await ask('POST', '/setup/initialize', {
    body: { ...account, setupToken: token },
  })
  const { key } = (await (
    await fetch(`${base}/api/v1/api-keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'bench' }),
    })
  ).json()) as { key: string }
  const { id } = await ask('POST', '/libraries', {
    key,
    body: { name: 'Bench', path: library, scanningConfig: schedule, scanImmediately: true },
  })
  const gone = new AbortController()
  for (const stream of ['events', 'scans', 'tasks'])
    follow(`${base}/api/v1/${stream}/stream`, key, gone)
  for (let round = 0; performance.now() < until; round++) {
    if (round % 10 === 0) await ask('POST', `/libraries/${id}/scan?mode=deep`, { key })
    const books = await ask('GET', '/books', { key })
    for (const book of (books?.data ?? []).slice(0, 5)) {
      await ask('GET', `/books/${book.id}/thumbnail`, { key })
      await ask('GET', `/books/${book.id}/pages/1`, { key })
      await ask('GET', `/books/${book.id}/pages/1?width=100`, { key })
      await ask('PUT', `/books/${book.id}/progress`, {
        key,
        body: { currentPage: 1 + (round % 2) },
      })
    }
    await ask('GET', '/books', { key: 'no key' })
    await ask('POST', '/auth/login', { body: { username: account.username, password: 'wrong' } })
    await Promise.all(Array.from({ length: 8 }, () => ask('GET', '/books')))
    await sleep(200)
  }
  gone.abort()
}

/** One client resumes from before the retention window and receives `resync`. */
function follow(url: string, key: string, { signal }: AbortController) {
  const headers = { 'x-api-key': key, 'last-event-id': '999999999' }
  fetch(url, { headers, signal })
    .then(async response => {
      for await (const _ of response.body ?? []);
    })
    .catch(() => {})
}
