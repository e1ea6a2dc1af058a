// Scrolling through a long list: frames per second as traced by the browser, cards in the document, heap, requests.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'

type Scrolling = {
  scrolling: string
  /** Drawn in a second while it scrolled. */
  framesPerSecond: number
  /** Longest time between two frames. */
  longestMs: number
  maxCards: number
  /** Different heights of the page. */
  heights: number
  requests: number
  aborted: number
  /** Bytes after garbage collection. */
  heap: number
  elements: number
}

const restMs = 1_500

/** Slowly, fast, and as with the scrollbar from end to end, which is repeated. */
export async function scrollThrough(page: Page): Promise<Scrolling[]> {
  const session = await page.context().newCDPSession(page)
  const counts = { requests: 0, aborted: 0 }
  page.on('request', () => void counts.requests++)
  page.on('requestfailed', () => void counts.aborted++)
  const results: Scrolling[] = []
  const measure = async (scrolling: string, scroll: () => Promise<unknown>) => {
    const before = { ...counts }
    await page.evaluate(watchCards)
    const frames = await tracedFrames(session, scroll)
    await sleep(restMs)
    const { cards, heights } = await page.evaluate<{ cards: number; heights: number }>(
      'stopWatching()',
    )
    results.push({
      scrolling,
      ...frames,
      maxCards: cards,
      heights,
      requests: counts.requests - before.requests,
      aborted: counts.aborted - before.aborted,
      ...(await memoryOf(session)),
    })
  }
  const gesture = (speed: number, distance: number) => () =>
    session.send('Input.synthesizeScrollGesture', {
      x: 600,
      y: 500,
      yDistance: -distance,
      speed,
      gestureSourceType: 'mouse',
    })
  await measure('2,000 pixels a second', gesture(2_000, 12_000))
  await measure('8,000 pixels a second', gesture(8_000, 48_000))
  for (const round of [1, 2, 3])
    await measure(`from end to end, ${round}`, () => page.evaluate(dragScrollbar))
  return results
}

/** All positions of the list in six seconds there and back, one in each frame. */
const dragScrollbar = `new Promise(resolve => {
  const start = performance.now()
  const step = () => {
    const part = Math.min(1, (performance.now() - start) / 6000)
    const end = document.documentElement.scrollHeight - innerHeight
    scrollTo(0, end * (part < 0.5 ? part * 2 : 2 - part * 2))
    if (part < 1) requestAnimationFrame(step)
    else resolve()
  }
  requestAnimationFrame(step)
})`

const watchCards = `{
  let cards = 0
  let isOver = false
  const heights = new Set()
  const watch = () => {
    cards = Math.max(cards, document.querySelectorAll('.lists-cell').length)
    heights.add(document.documentElement.scrollHeight)
    if (!isOver) requestAnimationFrame(watch)
  }
  watch()
  globalThis.stopWatching = () => {
    isOver = true
    return { cards, heights: heights.size }
  }
}`

type TraceEvent = { name: string; ts: number }

/** Frames that the compositor drew while `scroll` ran. */
async function tracedFrames(session: CDPSession, scroll: () => Promise<unknown>) {
  const events: TraceEvent[] = []
  const collect = ({ value }: { value: unknown[] }) => {
    for (const event of value as TraceEvent[]) if (event.name === 'DrawFrame') events.push(event)
  }
  session.on('Tracing.dataCollected', collect)
  const completed = new Promise(resolve => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: [
        'disabled-by-default-devtools.timeline.frame',
        'devtools.timeline.frame',
      ],
    },
  })
  await scroll()
  await session.send('Tracing.end')
  await completed
  session.off('Tracing.dataCollected', collect)
  const times = events.map(({ ts }) => ts / 1000).toSorted((a, b) => a - b)
  const seconds = (times.at(-1)! - times[0]!) / 1000
  const gaps = times.slice(1).map((time, i) => time - times[i]!)
  return {
    framesPerSecond: Math.round((10 * gaps.length) / seconds) / 10,
    longestMs: Math.round(Math.max(...gaps)),
  }
}

async function memoryOf(session: CDPSession) {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes } = await session.send('Memory.getDOMCounters')
  return { heap: usedSize, elements: nodes }
}
