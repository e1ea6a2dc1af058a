// Checks of the commands and of the life of a server: killed, restarted, terminated.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Book } from './catalog.ts'
import { type Checks, expectEqual, expectTrue } from './checks.ts'
import { type Client, createClient, poll } from './client.ts'
import { expected } from './expected.ts'
import { signIn } from './server.ts'

export type Launched = {
  exit: Promise<number | null>
  hasExited(): boolean
  stdout(): string
  /** With standard error. */
  output(): string
  /** SIGKILL reaches all processes of Node.js, another signal the first one. */
  kill(signal: NodeJS.Signals): void
}

export type Installation = {
  base: string
  /** Starts `stackroom` with arguments. */
  launch(args: string[]): Launched
  /** Options that lead to the data: directory and database. */
  where: string[]
  /** Further options of `serve`. */
  serve: string[]
  /** Path of the library for Stackroom. */
  library: string
}

const restartSeconds = 90
const stopMs = 10_000

/** Waits until the server responds; throws at once when it has ended. */
export async function untilServed(
  base: string,
  server: Launched,
  seconds = restartSeconds,
): Promise<void> {
  await poll(seconds, async () => {
    if (server.hasExited()) return 'ended'
    return (await fetch(`${base}/api/v1/health`)).status === 200 ? 'served' : null
  })
  if (server.hasExited()) throw new Error(`the server ended: ${server.output().slice(-1_000)}`)
}

export async function checkProcess(
  { check }: Checks,
  installation: Installation,
  { server, client, books }: { server: Launched; client: Client; books: readonly Book[] },
): Promise<void> {
  const { base, launch, where } = installation
  const succeed = async (args: string[]) => {
    const command = launch(args)
    const code = await command.exit
    expectTrue(code === 0, `exits with ${code}: ${command.output().slice(-500)}`)
    return command.stdout()
  }
  await check('openapi', async () => {
    expectTrue(/^3\.1/.test(JSON.parse(await succeed(['openapi'])).openapi), 'no OpenAPI 3.1')
  })
  await check('user add', async () => {
    const person = ['bea', '--email', 'bea@example.org', '--role', 'reader', '--generate']
    const output = await succeed(['user', 'add', ...person, ...where])
    const [, password] = /Password: (\S+)/.exec(output) ?? []
    await createClient(base).json('/api/v1/auth/login', { body: { username: 'bea', password } })
  })
  let current = server
  const restart = async () => {
    current = launch(['serve', ...where, ...installation.serve])
    await untilServed(base, current)
  }
  await check('nothing acknowledged is lost by SIGKILL', async () => {
    const acknowledged = await writeUntilKilled(client, books, current)
    await restart()
    const again = await signIn(base)
    for (const [id, { stored, sent }] of acknowledged) {
      const { currentPage } = await again.json(`/api/v1/books/${id}/progress`)
      expectTrue([stored, sent].includes(currentPage), `page ${currentPage} instead of ${stored}`)
    }
    expectEqual((await again.json('/api/v1/books')).total, expected.books, 'number of books')
  })
  await check('doctor', async () => {
    expectTrue((await succeed(['doctor', ...where])).includes('No problems found.'), 'problems')
  })
  await check('SIGTERM', async () => {
    if (current.hasExited()) await restart()
    const sent = performance.now()
    current.kill('SIGTERM')
    const ended = await Promise.race([current.exit, sleep(stopMs, 'still running', { ref: false })])
    expectEqual(ended, 0, `exit code after ${Math.round(performance.now() - sent)} ms`)
  })
  // Where a check failed.
  current.kill('SIGKILL')
  await check('scan', async () => {
    const { failed } = JSON.parse(await succeed(['scan', installation.library, '--json', ...where]))
    expectTrue(!failed || Object.keys(failed).length === 0, 'files failed')
  })
}

type Write = { stored: number; sent: number }

/** Writes positions, kills the server meanwhile, and returns the last acknowledged page of each book. */
async function writeUntilKilled(client: Client, books: readonly Book[], server: Launched) {
  const pages = new Map<string, Write>()
  let isKilled = false
  const killed = sleep(1_500).then(() => {
    isKilled = true
    server.kill('SIGKILL')
  })
  await Promise.all(
    books
      .filter(({ pageCount }) => pageCount >= 4)
      .map(async ({ id }) => {
        for (let page = 1; ; page = (page % 3) + 1) {
          const body = { currentPage: page }
          const stored = pages.get(id)?.stored
          pages.set(id, { stored: stored ?? page, sent: page })
          try {
            await client.send(`/api/v1/books/${id}/progress`, { method: 'PUT', body })
          } catch (error) {
            if (isKilled) return
            throw error
          }
          pages.set(id, { stored: page, sent: page })
        }
      }),
  )
  await killed
  return pages
}
