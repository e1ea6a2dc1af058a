// Headless Chromium of browser tests: an installed one, driven by playwright-core, shared by the tests of a process.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import type { Scope } from '../db.ts'
import { leaveOutWithout } from '../shared.ts'

const browsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** Without windows, which take more than half of the CPU time of a browser: 0.6 s for each context. */
const headlessShells = ['chromium-headless-shell', 'chrome-headless-shell']

const browserPath = findBrowser([...headlessShells, ...browsers])

/** Path of an installed Chromium; null if there is none. `CHROMIUM_PATH` is an absolute path. */
export function findBrowser(names: readonly string[] = browsers): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const candidates = names.flatMap(name => folders.map(folder => join(folder, name)))
  return [process.env.CHROMIUM_PATH ?? '', ...candidates].find(existsSync) ?? null
}

/** For the `skip` option of a test: a reason where no browser is installed, and `checks` count as left out. */
export function skipWithoutBrowser(checks: number): string | false {
  if (browserPath !== null) return false
  leaveOutWithout('Chromium', checks)
  return `left out: ${checks} checks (Chromium is not there)`
}

/** Waiting for anything in a browser; a busy machine may take long. While tests are written, `BROWSER_TIMEOUT_MS`. */
export const browserTimeoutMs = Number(process.env.BROWSER_TIMEOUT_MS ?? 120_000)

let running: Promise<Browser> | null = null
let users = 0
let closing: NodeJS.Timeout | undefined
// The next test file of the process uses it again.
const idleMs = 1_000

/** The browser of this process until the end of `t`; it ends a second after its last user. */
export async function useBrowser(t: Scope): Promise<Browser> {
  users += 1
  clearTimeout(closing)
  running ??= chromium.launch({
    executablePath: browserPath!,
    // It does not work for root, nor in most containers.
    chromiumSandbox: false,
    // Nothing is requested from other hosts, by the browser itself neither.
    args: [
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      '--disable-gpu',
      '--disable-software-rasterizer',
    ],
    timeout: browserTimeoutMs,
  })
  const browser = running
  t.teardown(() => {
    users -= 1
    if (users > 0) return
    closing = setTimeout(async () => {
      running = null
      await (await browser).close()
    }, idleMs)
  })
  return await browser
}
