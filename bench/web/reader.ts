// The reader of comics in a headless Chromium: first page with an empty cache, key press to painted page when it is
// preloaded and when it is not, and memory of the tab over a whole book of large pages.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { zipOfFiles } from '../../test/kit/files/archives.ts'
import { type Credentials, signIn } from '../../test/kit/web/sign-in.ts'
import { startStackroom, stopProcess } from '../kit/server-process.ts'
import { print } from '../kit/stackroom.ts'
import { openTab, type Tab } from './devtools.ts'

const pageCount = 500
const pageSize = { width: 1988, height: 3056 }
const differentPages = 20
const maxPreloadedMs = 100
const readingMs = 300
// Between page 50 and the end, in which it has all that it preloads.
const maxGrowth = 96 * 2 ** 20

type Options = Credentials & { rounds: number; viewport: { width: number; height: number } }

/** What exceeds a bound, as text. */
export async function measureReader({ rounds, viewport, ...credentials }: Options) {
  const folder = mkdtempSync(join(tmpdir(), 'stackroom-reader-'))
  await makeComic(join(folder, 'library', 'Long'))
  const flags = ['--data', join(folder, 'data'), '--library', join(folder, 'library')]
  const { child, base } = await startStackroom(['--log-level', 'error', ...flags])
  const tab = await openTab(viewport)
  try {
    const id = await firstBook(base, credentials)
    await signInTab(tab, base, credentials)
    const address = `${base}/books/${id}/read?page=1`
    await firstPage(tab, address, rounds)
    const failed = [...(await preloaded(tab)), ...(await memory(tab, address))]
    await notPreloaded(tab)
    return failed
  } finally {
    await tab.close()
    await stopProcess(child)
    rmSync(folder, { recursive: true })
  }
}

/** About 0.8 MB a page. */
async function makeComic(folder: string) {
  const { width, height } = pageSize
  const noise = await sharp({
    create: {
      ...{ width: width / 4, height: height / 4, channels: 3, background: '#888' },
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  })
    .png()
    .toBuffer()
  const images = await Promise.all(
    Array.from({ length: differentPages }, (_, i) =>
      sharp(noise)
        .resize(width, height, { kernel: 'cubic' })
        .tint(`hsl(${i * 18}, 60%, 60%)`)
        .jpeg({ quality: 82 })
        .toBuffer(),
    ),
  )
  const names = Array.from({ length: pageCount }, (_, i) => `${String(i + 1).padStart(4, '0')}.jpg`)
  mkdirSync(folder, { recursive: true })
  const files = names.map((name, i) => [name, images[i % differentPages]!])
  writeFileSync(join(folder, 'Long 001.cbz'), zipOfFiles(Object.fromEntries(files)))
  print({ pages: pageCount, ...pageSize, bytes: images[0]!.length })
}

async function firstBook(base: string, credentials: Credentials): Promise<string> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const account = { ...credentials, email: 'bench@example.org' }
  const made = await fetch(`${base}/api/v1/setup/initialize`, {
    ...post,
    body: JSON.stringify(account),
  })
  const { accessToken } = (await made.json()) as { accessToken: string }
  const headers = { authorization: `Bearer ${accessToken}` }
  for (;;) {
    const list = await fetch(`${base}/api/v1/books`, { headers })
    const { data } = (await list.json()) as { data: { id: string; analyzed: boolean }[] }
    if (data[0]?.analyzed) return data[0].id
    await sleep(200)
  }
}

async function signInTab(tab: Tab, base: string, credentials: Credentials) {
  const state = await signIn(base, credentials)
  const cookies = state.cookies.map(({ name, value }) => ({ name, value, url: base }))
  await tab.send('Storage.setCookies', { cookies })
  await tab.send('Page.navigate', { url: `${base}/manifest.webmanifest` })
  await tab.waitFor(`location.origin === ${JSON.stringify(base)}`)
  for (const { name, value } of state.origins[0]!.localStorage)
    await tab.evaluate(`localStorage.setItem(${JSON.stringify(name)}, ${JSON.stringify(value)})`)
}

const isShown = `document.querySelector('.reader-slide.current .reader-page canvas') !== null`
const isNextReady = `(pages => pages.length > 0 && pages.every(page => page.querySelector('canvas')))(
  [...document.querySelectorAll('.reader-slide[data-offset="1"] .reader-page')])`

/** Calls \`done\` with the time when the pages of the current spread are painted. */
const whenPainted = `globalThis.whenPainted = (isOther, done) => {
  const check = () => {
    const pages = [...document.querySelectorAll('.reader-slide.current .reader-page')]
    const isPainted = isOther(pages[0]) && pages.every(page => page.querySelector('canvas'))
    if (!isPainted) return requestAnimationFrame(check)
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => done(performance.now())
      port2.postMessage(0)
    })
  }
  requestAnimationFrame(check)
}`

async function firstPage(tab: Tab, address: string, rounds: number) {
  const source = `${whenPainted}; globalThis.painted = new Promise(done =>
    addEventListener('DOMContentLoaded', () => whenPainted(Boolean, done)))`
  const { identifier } = await tab.send('Page.addScriptToEvaluateOnNewDocument', { source })
  await tab.send('Page.enable')
  const times: number[] = []
  // The server builds the application and the pages at the first request.
  for (let round = -1; round < rounds; round++) {
    await tab.send('Network.clearBrowserCache')
    await tab.send('Page.navigate', { url: address })
    await tab.waitFor(`location.href.includes('/read') && Boolean(globalThis.painted)`)
    const time = await tab.evaluate<number>('painted')
    if (round >= 0) times.push(time)
    await tab.evaluate('sessionStorage.clear()')
  }
  await tab.send('Page.removeScriptToEvaluateOnNewDocument', { identifier })
  print({ reader: 'first page, empty cache', ...summary(times) })
}

async function preloaded(tab: Tab): Promise<string[]> {
  await tab.evaluate(`${whenPainted}; globalThis.times = []; addEventListener('keydown', event => {
    const before = document.querySelector('.reader-slide.current .reader-page')
    const start = event.timeStamp
    whenPainted(page => page && page !== before, end => times.push(end - start))
  }, true)`)
  for (let i = 0; i < 100; i++) {
    await tab.waitFor(isNextReady)
    // The pages after it are loaded while one reads.
    await sleep(readingMs)
    await tab.press('ArrowRight')
    await tab.waitFor(`times.length > ${i}`)
  }
  const times = summary(await tab.evaluate<number[]>('times'))
  print({ reader: 'next page, preloaded', ...times })
  return times.p95 > maxPreloadedMs ? [`next page after ${times.p95} ms`] : []
}

async function notPreloaded(tab: Tab) {
  const times: number[] = []
  for (let i = 1; i <= 20; i++) {
    const page = (i * 173) % pageCount || 1
    const time = await tab.evaluate<number>(`new Promise(done => {
      const slider = document.querySelector('.reader-range > input')
      const before = document.querySelector('.reader-slide.current .reader-page')
      const start = performance.now()
      slider.value = ${page}
      slider.dispatchEvent(new Event('change', { bubbles: true }))
      whenPainted(page => page && page !== before, end => done(end - start))
    })`)
    times.push(time)
  }
  print({ reader: 'any page, not preloaded', ...summary(times) })
}

/** All pages, one after the other. */
async function memory(tab: Tab, address: string): Promise<string[]> {
  await tab.evaluate('sessionStorage.clear()')
  await tab.send('Page.navigate', { url: address })
  await sleep(1_000)
  await tab.waitFor(isShown)
  await tab.evaluate(`${whenPainted}`)
  const numberShown = `Number(document.querySelector('.reader-slide.current .reader-page')?.dataset.page ?? 0)`
  const samples: { page: number; resident: number }[] = []
  for (let page = 1, next = 1; page > 0 && page < pageCount; ) {
    page = await tab.evaluate<number>(numberShown)
    if (page >= next) {
      samples.push({ page, resident: tab.residentBytes() })
      next = page < 50 ? 50 : page + 50
    }
    if (page >= pageCount - 1) break
    await tab.waitFor(isNextReady)
    await tab.press('ArrowRight')
  }
  for (const sample of samples) print({ reader: 'resident memory of the tab', ...sample })
  const [, early] = samples
  const growth = Math.max(...samples.slice(1).map(({ resident }) => resident)) - early!.resident
  return growth > maxGrowth ? [`the tab grew by ${growth} bytes`] : []
}

function summary(times: readonly number[]) {
  const sorted = times.map(Math.round).toSorted((a, b) => a - b)
  return { median: sorted[sorted.length >> 1]!, p95: sorted[Math.floor(sorted.length * 0.95)]! }
}
