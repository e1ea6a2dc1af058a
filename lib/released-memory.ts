// Counts what this process let go of: V8 does not collect it while nothing is allocated (cmd/rest.ts).

let count = 0

/** Many megabytes have become garbage, with hardly any work. */
export function noteReleasedMemory(): void {
  count++
}

/** How often that was noted. */
export const releasedMemoryCount = (): number => count
