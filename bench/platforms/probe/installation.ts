// The whole probe of an installation: a server that was just started, then its end, its next starts, the commands.

import type { Checks } from './checks.ts'
import { poll } from './client.ts'
import { checkProcess, type Installation, type Launched, untilServed } from './process.ts'
import { checkServer, signIn } from './server.ts'

/** Whether the server was there to be checked. `onFirstPage` is called when it has sent the first page. */
export async function checkInstallation(
  checks: Checks,
  installation: Installation,
  server: Launched,
  { startSeconds = 90, onFirstPage = () => {} } = {},
): Promise<boolean> {
  const { base } = installation
  const failed = checks.failures.length
  await checks.check('start', async () => {
    await untilServed(base, server, startSeconds)
    await readFirstPage(base)
    onFirstPage()
  })
  if (checks.failures.length > failed) return false
  const session = await checkServer(checks, base)
  if (session === null) return false
  await checkProcess(checks, installation, { server, ...session })
  return true
}

/** Signs in, and waits until a book is found and its first page is sent. */
export async function readFirstPage(base: string): Promise<void> {
  const client = await signIn(base)
  await poll(60, async () => {
    const { data } = await client.json('/api/v1/books?sort=title,asc')
    const book = data.find(({ title }: { title: string }) => title.startsWith('Saga'))
    if (book === undefined) return null
    return await client.send(`/api/v1/books/${book.id}/pages/1`)
  })
}
