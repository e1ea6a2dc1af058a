// Meters the cost of users' templates, conditions and patterns: work is charged in steps of about a
// microsecond, before or right after it is done, so the limit does not depend on a clock.
import { Invalid } from './errors.ts'

export type Meter = {
  /** Throws Invalid when the work takes too many steps. */
  charge(steps: number): void
  /** Steps that may still be charged. */
  left(): number
}

/** About 50 ms: for one template, the conditions on one series, or the title rules for one title. */
export const maxSteps = 50_000

/** `name` is the field to name in the error. */
export function createMeter(name: string): Meter {
  let left = maxSteps
  return {
    charge(steps) {
      left -= steps
      if (left < 0) throw new Invalid(`${name} takes too many steps`)
    },
    left: () => Math.max(0, left),
  }
}

const charactersPerStep = 100
// For work that makes a value of each character or converts it.
const convertedPerStep = 20
const membersPerStep = 5

/** Reading or copying a text. */
export const chargeText = (meter: Meter, { length }: { length: number }) =>
  meter.charge(1 + length / charactersPerStep)

/** Splitting or converting a text character by character. */
export const chargeCharacters = (meter: Meter, { length }: { length: number }) =>
  meter.charge(1 + length / convertedPerStep)

/** Listing the members of an object or list. */
export const chargeMembers = (meter: Meter, count: number) =>
  meter.charge(1 + count / membersPerStep)

const maxNumberLength = 1_000

/** The number that a value is or spells; NaN for anything else. */
export function numberOf(value: unknown, meter: Meter): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.length > maxNumberLength) return Number.NaN
  chargeCharacters(meter, value)
  return value.trim() === '' ? Number.NaN : Number(value)
}

/** Whether two values are equal; objects and lists compare by identity. */
export function isSame(a: unknown, b: unknown, meter: Meter): boolean {
  meter.charge(1)
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length !== b.length) return false
    chargeText(meter, a)
  }
  return a === b
}

// Characters; in the worst case a search compares most of the part at every position of the text.
const comparedPerStep = 1_000

/** Searching a text for a part. */
export function chargeSearch(meter: Meter, text: string, part: string): void {
  const places = text.length - part.length + 1
  chargeText(meter, text)
  if (places > 0) meter.charge((places * part.length) / comparedPerStep)
}
