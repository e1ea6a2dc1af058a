// Tests with pages of the web application in a browser, which fail for everything that the browser finds wrong.
//
//   import { test } from 'tap'
//   import { startApp } from '../kit/web/app.ts'
//   import { skipWithoutBrowser } from '../kit/web/browser.ts'
//   import { testWithPages } from '../kit/web/page.ts'
//
//   test('the reader', { skip: skipWithoutBrowser(1) }, async t => {     // the number of checks that are left out
//     const app = await startApp(t, { books: ['comic', 'manga'] })       // see app.ts and books.ts
//     const testPages = testWithPages(t, app)
//     await testPages('pages are turned by keyboard', async (t, open) => {
//       const page = await open(`/books/${app.books.comic.id}/read`, { width: 390 })
//       await page.keyboard.press('ArrowRight')
//       await page.getByText('2 / 6').waitFor()                          // locators wait; never wait for a time
//       t.equal(await horizontalOverflow(page), 0)
//     })
//   })
//
// A page is signed in as the administrator of `app`; `account: app.reader` is another one, `account: null` is signed out.
// It has its own storage, cookies and cache, unless `context: other.context()` shares another page's.
// A test fails for console errors and warnings, exceptions, violations of the CSP, requests to other hosts, failed
// requests and responses of 400 and above. What a test provokes is announced: `page.expectProblem(/^404 GET .*books/)`.
// The DOM library is not part of the type check (it would take twice as long): functions for the browser are texts,
// `await page.evaluate<number>('scrollY')`. The policy forbids what evaluates a text in the page (`waitForFunction`):
// `waitUntil(() => …)` repeats. State of the server is read best by a client: `app.admin.get(…)`.
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { browserTimeoutMs, useBrowser } from './browser.ts'
import { watchContext } from './problems.ts'
import { type Credentials, signIn } from './sign-in.ts'

export type AppPage = Page & {
  /** Problems that match are not reported; they read as `404 GET /path`, `console error: text` and so on. */
  expectProblem(pattern: RegExp): void
  /** Problems so far that were not expected. */
  problems(): string[]
}

export type PageOptions = {
  /** Signed in; null: signed out. The administrator by default. */
  account?: Credentials | null
  width?: number
  height?: number
  dark?: boolean
  /** Language of the browser. */
  language?: string
  /** Context of another page: the same browser of the same person; all other options have no effect. */
  context?: BrowserContext
  /** Further options of Playwright. */
  options?: BrowserContextOptions
}

/** Opens a path of the application in a new page; null opens nothing. */
export type OpenPage = (path: string | null, options?: PageOptions) => Promise<AppPage>

type AppAddress = { base: string; admin: Credentials }

/** Returns a function that runs subtests of `t` with pages of the application at `base`. */
export function testWithPages(t: Test, app: AppAddress) {
  return (name: string, run: (t: Test, open: OpenPage) => Promise<unknown>) =>
    t.test(name, async t => {
      const contexts = new Map<BrowserContext, ReturnType<typeof watchContext>>()
      const open: OpenPage = async (path, { context: shared, ...options } = {}) => {
        const context = shared ?? (await openContext(t, app, options))
        if (!shared) contexts.set(context, watchContext(context, app.base))
        const page = await context.newPage()
        const response = path === null ? null : await page.goto(app.base + path)
        if (response?.ok() === false) throw new Error(`${path}: ${await response.text()}`)
        return Object.assign(page, contexts.get(context))
      }
      try {
        await run(t, open)
      } catch (error) {
        for (const context of contexts.keys()) t.comment(await describe(context))
        throw error
      } finally {
        const problems = [...contexts.values()].flatMap(watched => watched.problems())
        t.same(problems, [], 'no problems in the browser')
      }
    })
}

async function openContext(
  t: Test,
  { base, admin }: AppAddress,
  {
    account = admin,
    width = 1024,
    height = 768,
    dark = false,
    language = 'en',
    options,
  }: PageOptions,
) {
  const browser = await useBrowser(t)
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    locale: language,
    reducedMotion: 'reduce',
    // It loads all files of the application in the background.
    serviceWorkers: 'block',
    ...(account && { storageState: await signIn(base, account) }),
    ...options,
  })
  context.setDefaultTimeout(browserTimeoutMs)
  t.teardown(() => context.close())
  return context
}

/** What its pages show, for tests that fail. */
async function describe(context: BrowserContext): Promise<string> {
  const pages = context.pages().map(async page => {
    const text = await page.evaluate<string>('document.body.innerText').catch(String)
    return `${page.url()}\n${text.slice(0, 2_000)}`
  })
  return (await Promise.all(pages)).join('\n')
}

/** By how many pixels the page is wider than the window. */
export const horizontalOverflow = (page: Page): Promise<number> =>
  page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )

/** Waits until a condition holds, for what locators cannot express. Throws after the time limit of locators. */
export async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + browserTimeoutMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Does not come true: ${condition}`)
    await sleep(20)
  }
}
