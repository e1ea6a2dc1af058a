// First paint of a page with an empty cache: of the frame, of the first cards, of all covers in view.
import type { Page } from 'playwright-core'

/** Milliseconds since the navigation began. */
export async function firstPaint(page: Page, url: string) {
  let requests = 0
  page.on('request', () => {
    requests += 1
  })
  await page.addInitScript(watchPaint)
  await page.goto(url, { waitUntil: 'commit' })
  const times = await page.evaluate<{ paintMs: number; cardsMs: number; coversMs: number }>(
    'allPainted',
  )
  const bytes = await page.evaluate<number>(
    `performance.getEntriesByType('resource').filter(entry => /assets/.test(entry.name))
      .reduce((sum, entry) => sum + entry.encodedBodySize, 0)`,
  )
  return { ...times, requests, bytes }
}

/** Looks at every frame: a function of the page as text. */
const watchPaint = `
  const paintTimes = { paintMs: 0, cardsMs: 0, coversMs: 0 }
  let resolve
  globalThis.allPainted = new Promise(done => { resolve = done })
  const isInView = element => {
    const { top, bottom, left, right } = element.getBoundingClientRect()
    return bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
  }
  const watch = () => {
    paintTimes.paintMs ||= performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0
    const cards = [...document.querySelectorAll(':is(.lists-card, .names-cell):not(.loading)')].filter(isInView)
    if (cards.length > 0) paintTimes.cardsMs ||= performance.now()
    const covers = cards.flatMap(card => [...card.querySelectorAll('img')])
    const hasCovers = covers.length > 0 || cards[0]?.matches('.names-cell')
    if (hasCovers && paintTimes.paintMs > 0 && covers.every(image => image.complete))
      paintTimes.coversMs ||= performance.now()
    if (paintTimes.coversMs) resolve(paintTimes)
    else requestAnimationFrame(watch)
  }
  requestAnimationFrame(watch)
`
