// Difference between the browser's clock and the server's.

// The header has a resolution of one second; most of the remaining difference is response time.
const minOffsetMs = 60_000

let offsetMs = 0

/** Compares the clocks by the `Date` header of an uncached response. */
export function compareClocks(response: Response): void {
  const difference = Date.parse(response.headers.get('date') ?? '') - Date.now()
  if (Number.isFinite(difference)) offsetMs = Math.abs(difference) < minOffsetMs ? 0 : difference
}

/** Milliseconds to add to the browser's time to get the server's; 0 when the clocks agree. */
export const clockOffset = (): number => offsetMs
