// What is made of the pages that an app fetches, for apps that read ahead more or less.
import fc from 'fast-check'
import t from 'tap'
import { begun, fetched, placeOf, type Stream } from '../../lib/opds/stream-burst.ts'

const count = 30

/** An app that keeps what it has fetched, and asks for `ahead` pages beyond the one that is shown. */
function openApp(ahead: number) {
  let has = new Set<number>()
  let stream: Stream | null = null
  return {
    /** Shows a page after that many seconds; answers where the reader is taken to be. */
    show(page: number, { after = 5, scramble = 0 } = {}): number | null {
      const wanted = Array.from({ length: ahead + 1 }, (_, i) => page + i)
        .filter(one => one < count && !has.has(one))
        .sort((a, b) => ((a * scramble) % 7) - ((b * scramble) % 7) || a - b)
      for (const [i, one] of wanted.entries()) {
        const quietMs = i === 0 ? after * 1_000 : -50
        stream = stream === null ? begun(one) : fetched(stream, { page: one, quietMs })
        has.add(one)
      }
      return wanted.length === 0 ? null : placeOf(stream!, count)
    },
    restart() {
      has = new Set()
    },
  }
}

t.test('page by page the reader is where the last page was fetched, up to the end', async t => {
  const app = openApp(0)
  for (let page = 0; page < count; page++) t.equal(app.show(page), page + 1)
})

t.test('an app that reads ahead never ends the book', async t => {
  const app = openApp(4)
  for (let page = 0; page < count; page++) {
    const place = app.show(page, { scramble: 3 })
    if (page < count - 4) t.equal(place, page + 1, `page ${page}`)
    else t.equal(place, null)
  }
})

t.test('who jumps to the last page at once has not read the book', async t => {
  t.equal(openApp(0).show(count - 1), count - 1)
  const looked = openApp(0)
  looked.show(3)
  t.equal(looked.show(count - 1, { after: 3600 }), count - 1, 'nor who comes back for it')
  const whole = openApp(count)
  t.equal(whole.show(0), 1, 'nor who takes the book along')
})

t.test('a book of one page is not read by a look at it', async t => {
  t.equal(placeOf(begun(0), 1), null)
})

t.test('who goes on after hours reads as far ahead as before', async t => {
  const app = openApp(3)
  app.show(0)
  t.equal(app.show(1), 2)
  t.equal(app.show(2, { after: 20_000 }), 3)
})

const step = fc.record({
  kind: fc.constantFrom('turn', 'turn', 'turn', 'skip', 'back', 'jump', 'restart', 'pause'),
  to: fc.nat({ max: count - 1 }),
  scramble: fc.nat({ max: 6 }),
})

t.test('nobody is ever taken to be further than the page that is shown', async t => {
  fc.assert(
    fc.property(fc.nat({ max: 8 }), fc.array(step, { maxLength: 40 }), (ahead, steps) => {
      const app = openApp(ahead)
      let page = 0
      app.show(0)
      for (const { kind, to, scramble } of steps) {
        if (kind === 'restart') app.restart()
        page =
          kind === 'jump'
            ? to
            : page + ({ turn: 1, skip: 2, back: -1 } as Record<string, number>)[kind]! || page
        page = Math.min(count - 1, Math.max(0, page))
        const after = kind === 'pause' ? 900 : 5
        const place = app.show(page, { scramble, after })
        if (place !== null && (place > page + 1 || (ahead > 0 && place === count))) return false
      }
      return true
    }),
  )
  t.pass()
})
