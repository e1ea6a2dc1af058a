// Speed of the web application over a seeded database (npm run bench -- seed) in a headless Chromium: first paint of the
// home page and of a grid of series with an empty cache, frames per second and memory while scrolling through all
// series. Exits with 1 when a bound is exceeded. The account with the most progress becomes `bench-web`: use a copy.
// npm run bench -- web --data DIR [--database-url URL] [--base URL --username NAME --password TEXT] [--rounds 5]
//   [--width 1920] [--height 1080]
// npm run bench -- web --reader: the reader instead, over a comic that it makes.
// With `--base` a server that runs is measured, and no account is changed. CHROMIUM_PATH names another browser.
import type { ChildProcess } from 'node:child_process'
import { parseArgs } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { hashPassword } from '../../lib/accounts/password.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase } from '../../lib/store/postgres/db.ts'
import { findBrowser } from '../../test/kit/web/browser.ts'
import { type Credentials, signIn } from '../../test/kit/web/sign-in.ts'
import { startStackroom, stopProcess } from '../kit/server-process.ts'
import { print } from '../kit/stackroom.ts'
import { firstPaint } from './paint.ts'
import { measureReader } from './reader.ts'
import { scrollThrough } from './scrolling.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    'database-url': { type: 'string' },
    base: { type: 'string' },
    username: { type: 'string', default: 'bench-web' },
    password: { type: 'string', default: 'correct horse battery' },
    rounds: { type: 'string', default: '5' },
    width: { type: 'string', default: '1920' },
    height: { type: 'string', default: '1080' },
    reader: { type: 'boolean', default: false },
  },
})
const maxPaintMs = 1_000
const minFramesPerSecond = 50
const maxCards = 200
const maxHeapGrowth = 8 * 2 ** 20

const viewport = { width: Number(values.width), height: Number(values.height) }
const { username, password } = values
let child: ChildProcess | null = null
let browser = null as Browser | null
try {
  const failed = values.reader
    ? await measureReader({ username, password, viewport, rounds: Number(values.rounds) })
    : await measureLists()
  if (failed.length > 0) {
    print({ failed })
    process.exitCode = 1
  }
} finally {
  await browser?.close()
  if (child) await stopProcess(child)
}

async function measureLists(): Promise<string[]> {
  const base = values.base ?? (await serve())
  const executablePath = findBrowser()
  if (executablePath === null) throw new Error('no Chromium is installed')
  browser = await chromium.launch({ executablePath, chromiumSandbox: false })
  return [...(await measurePaint(browser, base)), ...(await measureScrolling(browser, base))]
}

/** The server over the seeded database, with the account. */
async function serve(): Promise<string> {
  const flags = { data_dir: values.data, 'database.url': values['database-url'] }
  const database = await openDatabase(loadConfig({ env: {}, flags }))
  try {
    await useAccount(database.sql, { username, password })
  } finally {
    await database.close()
  }
  const started = await startStackroom([
    ...['--log-level', 'error'],
    ...(values.data ? ['--data', values.data] : []),
    ...(values['database-url'] ? ['--database-url', values['database-url']] : []),
  ])
  child = started.child
  return started.base
}

/** Gives the account with the most progress the name and the password. */
async function useAccount(
  sql: Awaited<ReturnType<typeof openDatabase>>['sql'],
  { username, password }: Credentials,
) {
  const hash = await hashPassword(password)
  await sql`
    update account set username = ${username}, password_hash = ${hash}, role = 'admin', is_active = true
    where id = (select account_id from progress group by account_id order by count(*) desc, account_id limit 1)`
}

async function measurePaint(browser: Browser, base: string): Promise<string[]> {
  const failed: string[] = []
  for (const path of ['/', '/series', '/books', '/people', '/genres']) {
    // The server builds the application and its lists at the first request.
    const all: Awaited<ReturnType<typeof firstPaint>>[] = []
    for (let round = -1; round < Number(values.rounds); round++) {
      const storageState = await signIn(base, { username, password })
      const context = await browser.newContext({ viewport, storageState })
      const result = await firstPaint(await context.newPage(), base + path)
      if (round >= 0) all.push(result)
      await context.close()
    }
    const median = (name: keyof (typeof all)[number]) =>
      Math.round(all.map(result => result[name]).toSorted((a, b) => a - b)[all.length >> 1]!)
    const cards = median('cardsMs')
    print({
      page: path,
      paint: median('paintMs'),
      cards,
      covers: median('coversMs'),
      requests: median('requests'),
      bytes: median('bytes'),
    })
    if (cards > maxPaintMs) failed.push(`${path}: cards after ${cards} ms`)
  }
  return failed
}

async function measureScrolling(browser: Browser, base: string): Promise<string[]> {
  const failed: string[] = []
  const context = await browser.newContext({
    viewport,
    storageState: await signIn(base, { username, password }),
  })
  const page = await context.newPage()
  await page.goto(`${base}/series`)
  await page.locator('.lists-cell .lists-card:not(.loading)').first().waitFor()
  const results = await scrollThrough(page)
  for (const result of results) {
    print(result)
    if (result.framesPerSecond < minFramesPerSecond)
      failed.push(`${result.scrolling}: ${result.framesPerSecond} frames per second`)
    if (result.maxCards > maxCards) failed.push(`${result.scrolling}: ${result.maxCards} cards`)
    if (result.heights > 1) failed.push(`${result.scrolling}: the height changed`)
  }
  const [first, last] = [results[1]!, results.at(-1)!]
  if (last.heap - first.heap > maxHeapGrowth)
    failed.push(`the heap grew from ${first.heap} to ${last.heap} bytes`)
  await context.close()
  return failed
}
