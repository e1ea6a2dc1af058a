// All checks that need no more than the address of a server.
import { checkApps } from './apps.ts'
import {
  type Book,
  checkEvents,
  checkImages,
  checkLists,
  checkProgress,
  checkSystem,
  scannedBooks,
} from './catalog.ts'
import type { Checks } from './checks.ts'
import { type Client, createClient } from './client.ts'
import { account } from './expected.ts'

/** Creates the first administrator, or signs in; returns null if the library cannot be listed. */
export async function checkServer(
  checks: Checks,
  base: string,
): Promise<{ client: Client; books: Book[] } | null> {
  const { check } = checks
  let session: { client: Client; books: Book[] } | null = null
  await check('sign-in and scan', async () => {
    const client = await signIn(base)
    session = { client, books: await scannedBooks(client) }
  })
  if (session === null) return null
  const { client, books } = session as { client: Client; books: Book[] }
  await checkLists(checks, client)
  await checkImages(checks, client, books)
  await checkProgress(checks, client, books)
  await checkEvents(checks, client, books)
  await checkApps(checks, client, books)
  await checkSystem(checks, client)
  return session
}

/** A client of the administrator. */
export async function signIn(base: string): Promise<Client> {
  const stranger = createClient(base)
  const { username, password } = account
  const { setupRequired } = await stranger.json('/api/v1/setup/status')
  const { accessToken } = setupRequired
    ? await stranger.json('/api/v1/setup/initialize', { body: account, status: 201 })
    : await stranger.json('/api/v1/auth/login', { body: { username, password } })
  return stranger.with({ authorization: `Bearer ${accessToken}` })
}
