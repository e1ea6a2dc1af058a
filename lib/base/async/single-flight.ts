// Single-flight: concurrent calls with the same key share one execution and its result.
import { Unavailable } from '../errors.ts'

type Flight<T> = { result: Promise<T>; controller: AbortController; callers: number }

export type SingleFlight<T, K = string> = (
  key: K,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>

/**
 * Runs `work` once for all calls with the same key (compared as in a Map) until it completes. The signal
 * passed to `work` aborts once the signals of all callers have aborted; the next call then starts over.
 * Throws what `work` throws, or Unavailable if `signal` has already aborted.
 */
export function createSingleFlight<T, K = string>(): SingleFlight<T, K> {
  const flights = new Map<K, Flight<T>>()

  function start(key: K, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController()
    const flight: Flight<T> = { result: work(controller.signal), controller, callers: 0 }
    const forget = () => {
      if (flights.get(key) === flight) flights.delete(key)
    }
    controller.signal.addEventListener('abort', forget)
    flight.result = flight.result.finally(forget)
    flights.set(key, flight)
    return flight
  }

  return async (key, work, signal) => {
    if (signal?.aborted) throw new Unavailable('Request was canceled')
    const flight = flights.get(key) ?? start(key, work)
    const leave = () => {
      flight.callers -= 1
      if (flight.callers === 0) flight.controller.abort()
    }
    flight.callers += 1
    signal?.addEventListener('abort', leave, { once: true })
    try {
      return await flight.result
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }
}
