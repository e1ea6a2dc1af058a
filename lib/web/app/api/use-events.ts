// Events of the server in a view.
import { useEffect, useRef } from 'preact/hooks'
import { listen } from './events.ts'

/** Calls `handle` with each event while the component is shown. */
export function useEvents(
  stream: Parameters<typeof listen>[0],
  handle: Parameters<typeof listen>[1],
): void {
  const latest = useRef(handle)
  latest.current = handle
  useEffect(() => listen(stream, event => latest.current(event)), [stream])
}
