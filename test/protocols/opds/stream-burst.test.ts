// Reading position inferred from page fetches, for apps with different prefetch distances.
import fc from 'fast-check'
import t from 'tap'
import {
  addFetch,
  type BurstState,
  inferPage,
  startBurst,
} from '../../../lib/protocols/opds/stream-burst.ts'

const count = 30

/** An app that caches pages, and prefetches `ahead` pages after the displayed one. */
function createApp(ahead: number) {
  let cached = new Set<number>()
  let state: BurstState | null = null
  return {
    /** Displays a page after that many seconds. Returns the inferred page. */
    display(page: number, { after = 5, scramble = 0 } = {}): number | null {
      const missing = Array.from({ length: ahead + 1 }, (_, i) => page + i)
        .filter(index => index < count && !cached.has(index))
        .sort((a, b) => ((a * scramble) % 7) - ((b * scramble) % 7) || a - b)
      for (const [i, index] of missing.entries()) {
        const quietMs = i === 0 ? after * 1_000 : -50
        state = state === null ? startBurst(index) : addFetch(state, { page: index, quietMs })
        cached.add(index)
      }
      return missing.length === 0 ? null : inferPage(state!, count)
    },
    restart() {
      cached = new Set()
    },
  }
}

t.test('without prefetch the reader is on the last fetched page, up to the end', async t => {
  const app = createApp(0)
  for (let page = 0; page < count; page++) t.equal(app.display(page), page + 1)
})

t.test('an app that prefetches never completes the book', async t => {
  const app = createApp(4)
  for (let page = 0; page < count; page++) {
    const inferred = app.display(page, { scramble: 3 })
    if (page < count - 4) t.equal(inferred, page + 1, `page ${page}`)
    else t.equal(inferred, null)
  }
})

t.test('a jump to the last page does not complete the book', async t => {
  t.equal(createApp(0).display(count - 1), count - 1)
  const jumper = createApp(0)
  jumper.display(3)
  t.equal(jumper.display(count - 1, { after: 3600 }), count - 1, 'nor a later one')
  const downloader = createApp(count)
  t.equal(downloader.display(0), 1, 'nor a download of all pages')
})

t.test('fetching the only page does not complete a book', async t => {
  t.equal(inferPage(startBurst(0), 1), null)
})

t.test('the prefetch distance is the same after hours', async t => {
  const app = createApp(3)
  app.display(0)
  t.equal(app.display(1), 2)
  t.equal(app.display(2, { after: 20_000 }), 3)
})

const step = fc.record({
  kind: fc.constantFrom('turn', 'turn', 'turn', 'skip', 'back', 'jump', 'restart', 'pause'),
  to: fc.nat({ max: count - 1 }),
  scramble: fc.nat({ max: 6 }),
})

t.test('the inferred page is never after the displayed page', async t => {
  fc.assert(
    fc.property(fc.nat({ max: 8 }), fc.array(step, { maxLength: 40 }), (ahead, steps) => {
      const app = createApp(ahead)
      let page = 0
      app.display(0)
      for (const { kind, to, scramble } of steps) {
        if (kind === 'restart') app.restart()
        page =
          kind === 'jump'
            ? to
            : page + ({ turn: 1, skip: 2, back: -1 } as Record<string, number>)[kind]! || page
        page = Math.min(count - 1, Math.max(0, page))
        const after = kind === 'pause' ? 900 : 5
        const inferred = app.display(page, { scramble, after })
        if (inferred !== null && (inferred > page + 1 || (ahead > 0 && inferred === count)))
          return false
      }
      return true
    }),
  )
  t.pass()
})
