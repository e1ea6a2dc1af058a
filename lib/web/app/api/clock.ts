// Difference between the clocks of the browser and of the server.

// Of a second is the resolution of the header, and most of the rest the time of the response.
const minOffsetMs = 60_000

let offsetMs = 0

/** Compares the clocks by the `Date` header of a response that was not stored. */
export function compareClocks(response: Response): void {
  const difference = Date.parse(response.headers.get('date') ?? '') - Date.now()
  if (Number.isFinite(difference)) offsetMs = Math.abs(difference) < minOffsetMs ? 0 : difference
}

/** Milliseconds to add to a time of the browser for that of the server; 0 where both clocks are right. */
export const clockOffset = (): number => offsetMs
