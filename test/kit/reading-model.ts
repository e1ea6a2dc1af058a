// Random reading on several devices, and a plain model of the expected stored state: the writes sorted by
// their time and walked through once, for each book.
import type { SessionWrite } from '../../lib/reading/record.ts'
import type { Random } from './random.ts'

const minute = 60_000
const pageCount = 100

/** A write with the time of the server at which it arrives first. */
export type ModelWrite = {
  id: string
  bookId: string
  device: string
  kind: 'position' | SessionWrite['kind']
  startedAt: number
  endedAt: number
  page: number | null
  measuredMs: number | null
  pagesRead: number | null
  now: number
}

/**
 * Four devices: one measures, one writes positions, one has a clock that is ahead, one does both. Most of the
 * reading is in few books and close together, so that much of it touches.
 */
export function randomReading(random: Random, books: readonly string[], count: number) {
  const start = Date.UTC(2026, 2, 28, 20)
  const times = new Set<number>()
  const uniqueTime = () => {
    for (;;) {
      const day = random.chance(0.2) ? random.below(400) : random.below(2)
      const time = start + day * 24 * 60 * minute + random.below(90 * minute)
      if (times.has(time)) continue
      times.add(time)
      return time
    }
  }
  const favourites = books.slice(0, 3)
  return Array.from({ length: count }, (): ModelWrite => {
    const device = random.pick(['measuring', 'positions', 'ahead', 'both'])
    const isSession = device === 'positions' ? false : device === 'both' ? random.chance(0.5) : true
    const endedAt = uniqueTime()
    const length = isSession ? random.below(40 * minute) : 0
    const isMeasured = isSession && random.chance(0.8)
    const page = random.pick([0, 1, 3, 5, 6, 40, 80, 99, 100, 100])
    return {
      id: `${random.hex(8)}-${random.hex(4)}-4${random.hex(4).slice(1)}-8${random.hex(4).slice(1)}-${random.hex(12)}`,
      bookId: random.pick(random.chance(0.7) ? favourites : books),
      device,
      kind: !isSession
        ? 'position'
        : random.pick(['progress', 'progress', 'completed', 'reset'] as const),
      startedAt: endedAt - length,
      endedAt,
      page: isSession && random.chance(0.1) ? null : page,
      measuredMs: isMeasured ? random.below(length + 1) : null,
      pagesRead: isMeasured && random.chance(0.8) ? random.below(30) : null,
      // A clock that is ahead: by up to ten minutes.
      now: device === 'ahead' ? endedAt - random.below(10 * minute) : endedAt + 100 * minute,
    }
  })
}

/** A sitting with its time as in the ledger: `measured` is null without, `inferred` is null for a lone position. */
export type Sitting = {
  device: string
  from: number
  to: number
  measured: number | null
  inferred: number | null
  isPart: boolean
}

export type ModelBook = {
  bookId: string
  position: { page: number; isCompleted: boolean; at: number; startedAt: number } | null
  passes: { from: number; to: number }[]
  sittings: Sitting[]
}

/** The summary of the statistics over all time. */
export function expectedTotals(writes: readonly ModelWrite[]) {
  const once = [...new Map(writes.map(write => [write.id, write])).values()]
  const books = expectedReading(writes)
  const sittings = books.flatMap(book => book.sittings)
  const counted = sittings.filter(({ isPart }) => !isPart)
  const reported = once.filter(({ kind, pagesRead }) => kind !== 'reset' && pagesRead !== null)
  const sum = (values: (number | null)[]) => values.reduce<number>((a, b) => a + (b ?? 0), 0)
  return {
    books: books.filter(book => book.sittings.length > 0).length,
    measuredMs: sum(sittings.map(({ measured }) => measured)),
    inferredMs: sum(sittings.map(({ inferred }) => inferred)),
    pagesRead: sum(reported.map(({ pagesRead }) => pagesRead)),
    sessions: counted.length,
    booksFinished: books.flatMap(({ passes }) => passes).length,
    sessionsWithoutDuration: counted.filter(({ measured }) => measured === null).length,
    sessionsWithoutPages: counted.length - reported.length,
  }
}

type Point = ModelWrite & { isCompleted: boolean; isStart: boolean; isSession: boolean }

export function expectedReading(writes: readonly ModelWrite[]): ModelBook[] {
  const byBook = Map.groupBy(
    [...new Map(writes.map(write => [write.id, write])).values()].map(toPoint),
    write => write.bookId,
  )
  return [...byBook]
    .map(([bookId, own]) => expectedBook(bookId, own))
    .sort((a, b) => (a.bookId < b.bookId ? -1 : 1))
}

function toPoint(write: ModelWrite): Point {
  const ahead = Math.max(0, write.endedAt - write.now)
  const page = write.kind === 'completed' ? (write.page ?? pageCount) : write.page
  const isCompleted = write.kind === 'completed' || (write.kind !== 'reset' && page === pageCount)
  return {
    ...write,
    page: write.kind === 'reset' ? null : page,
    startedAt: write.startedAt - ahead,
    endedAt: write.endedAt - ahead,
    isCompleted,
    isStart: write.kind !== 'reset' && page !== null && page <= 5 && !isCompleted,
    isSession: write.kind !== 'position',
  }
}

function expectedBook(bookId: string, writes: Point[]): ModelBook {
  const inOrder = writes.toSorted((a, b) => a.endedAt - b.endedAt || (a.id < b.id ? -1 : 1))
  const sittings = sittingsOf(inOrder)
  const { passes, startedAt } = passesOf(inOrder, sittings)
  const newest = inOrder.findLast(({ kind, page }) => kind === 'reset' || page !== null)
  const position =
    newest && newest.kind !== 'reset'
      ? { page: newest.page!, isCompleted: newest.isCompleted, at: newest.endedAt, startedAt }
      : null
  return { bookId, position, passes, sittings }
}

function sittingsOf(inOrder: readonly Point[]): Sitting[] {
  const reading = inOrder.filter(({ kind }) => kind !== 'reset')
  const measured = reading.filter(({ measuredMs }) => measuredMs !== null)
  const sittings: Sitting[] = reading
    .filter(({ isSession }) => isSession)
    .map(({ device, startedAt: from, endedAt: to, measuredMs }) => ({
      ...{ device, from, to, measured: measuredMs, inferred: null, isPart: false },
    }))
  const open = new Map<string, Sitting>()
  for (const { device, endedAt } of reading.filter(({ isSession }) => !isSession)) {
    const last = open.get(device)
    if (last && endedAt - last.to <= 5 * minute) last.to = endedAt
    else {
      const sitting = {
        device,
        from: endedAt,
        to: endedAt,
        measured: null,
        inferred: null,
        isPart: false,
      }
      open.set(device, sitting)
      sittings.push(sitting)
    }
  }
  for (const sitting of sittings.filter(({ measured }) => measured === null)) {
    const isOfSession = reading.some(
      ({ isSession, device, startedAt, endedAt }) =>
        isSession &&
        device === sitting.device &&
        startedAt === sitting.from &&
        endedAt === sitting.to,
    )
    if (isOfSession) continue
    const own = measured.filter(({ device }) => device === sitting.device)
    sitting.isPart = own.some(
      m => m.startedAt - 5 * minute <= sitting.to && m.endedAt + 5 * minute >= sitting.from,
    )
    if (sitting.to === sitting.from) continue
    // Between two neighboring ends of anything, time is either measured or not.
    const ends = [sitting.from, sitting.to, ...own.flatMap(m => [m.startedAt, m.endedAt])]
      .filter(time => time >= sitting.from && time <= sitting.to)
      .sort((a, b) => a - b)
    sitting.inferred = ends.slice(1).reduce((sum, to, i) => {
      const from = ends[i]!
      const isMeasured = own.some(m => m.startedAt <= from && m.endedAt >= to)
      return sum + (isMeasured ? 0 : to - from)
    }, 0)
  }
  return sittings.sort((a, b) => a.from - b.from || a.to - b.to || (a.device < b.device ? -1 : 1))
}

function passesOf(inOrder: readonly Point[], sittings: readonly Sitting[]) {
  const passes: { from: number; to: number }[] = []
  let state: 'none' | 'reading' | 'finished' = 'none'
  let since = Number.NEGATIVE_INFINITY
  let startedAt = 0
  let finishedAt = 0
  const open = () => {
    const later = sittings.filter(({ to }) => to > since).map(({ from }) => Math.max(from, since))
    return Math.min(...later)
  }
  for (const { endedAt: at, startedAt: from, kind, isCompleted, isStart, isSession } of inOrder) {
    if (state === 'none' && open() <= at) {
      state = 'reading'
      startedAt = open()
    }
    if (kind === 'reset') {
      state = 'none'
      since = at
    } else if (isStart && state === 'finished') {
      state = 'reading'
      startedAt = Math.max(isSession ? from : at, finishedAt)
    } else if (isCompleted && state === 'reading') {
      state = 'finished'
      finishedAt = at
      passes.push({ from: startedAt, to: at })
    }
  }
  return { passes, startedAt: state === 'none' ? open() : startedAt }
}
