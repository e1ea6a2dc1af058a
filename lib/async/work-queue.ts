// A waiting line with a bound at both ends: how much may be under way, and how many may wait.
import { Unavailable } from '../errors.ts'

type Bounds = {
  /** How many may be under way. */
  slots: number
  /** What they may weigh together; one that is heavier goes alone. */
  weight: number
  /** How many may wait. */
  waiting: number
}

type Waiting = { weighs: number; go: () => void }

export function openLine({ slots, weight, waiting }: Bounds) {
  const line: Waiting[] = []
  let busy = 0
  let carried = 0
  const fits = (weighs: number) => busy < slots && (busy === 0 || carried + weighs <= weight)
  const start = (weighs: number) => {
    busy += 1
    carried += weighs
  }
  const end = (weighs: number) => {
    busy -= 1
    carried -= weighs
    while (line.length > 0 && fits(line[0]!.weighs)) {
      const next = line.shift()!
      start(next.weighs)
      next.go()
    }
  }
  const wait = (weighs: number, signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        const place = line.indexOf(one)
        if (place >= 0) line.splice(place, 1)
        reject(new Unavailable('Nobody waits for it any more'))
      }
      const go = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const one: Waiting = { weighs, go }
      line.push(one)
      signal?.addEventListener('abort', leave, { once: true })
    })
  return {
    /**
     * Runs `work` when its turn comes. Throws Unavailable when the line is full, and when `signal`
     * aborts before the turn has come; what was begun goes on.
     */
    async run<T>(weighs: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      if (signal?.aborted) throw new Unavailable('Nobody waits for it any more')
      if (line.length === 0 && fits(weighs)) start(weighs)
      else if (line.length >= waiting)
        throw new Unavailable('Too many images are being made; try again')
      else await wait(weighs, signal)
      try {
        return await work()
      } finally {
        end(weighs)
      }
    },
    get waiting() {
      return line.length
    },
  }
}

type Flight<T> = { ends: Promise<T>; gone: AbortController; waiting: number }

/**
 * One run of `work` for all that ask for the same at the same time. Its signal aborts when the signals
 * of all of them have.
 */
export function openFlights<T>() {
  const flights = new Map<string, Flight<T>>()
  const begin = (key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> => {
    const gone = new AbortController()
    const flight: Flight<T> = { ends: work(gone.signal), gone, waiting: 0 }
    const forget = () => {
      if (flights.get(key) === flight) flights.delete(key)
    }
    gone.signal.addEventListener('abort', forget)
    flight.ends = flight.ends.finally(forget)
    flights.set(key, flight)
    return flight
  }
  return async (
    key: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => {
    if (signal?.aborted) throw new Unavailable('Nobody waits for it any more')
    const flight = flights.get(key) ?? begin(key, work)
    const leave = () => {
      flight.waiting -= 1
      if (flight.waiting === 0) flight.gone.abort()
    }
    flight.waiting += 1
    signal?.addEventListener('abort', leave, { once: true })
    try {
      return await flight.ends
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }
}
