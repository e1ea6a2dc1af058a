// Meter of work: what templates, conditions and patterns of users cost is charged in steps of about a
// microsecond, each part before or at once after it is done, so that the limit does not depend on a clock.
import { Invalid } from './errors.ts'

export type Meter = {
  /** Throws Invalid when the work takes too many steps. */
  charge(steps: number): void
  /** Steps that may still be charged. */
  left(): number
}

/** Some 50 ms: of a template, of the conditions on one series, of the title rules for one title. */
export const maxSteps = 50_000

/** `name` is the field for the error. */
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
// Where each character becomes a value, or is converted.
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

/** A number, or a text of one; NaN for others. */
export function numberOf(value: unknown, meter: Meter): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.length > maxNumberLength) return Number.NaN
  chargeCharacters(meter, value)
  return value.trim() === '' ? Number.NaN : Number(value)
}

/** Whether two values are the same; of objects and lists only the same one is. */
export function isSame(a: unknown, b: unknown, meter: Meter): boolean {
  meter.charge(1)
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length !== b.length) return false
    chargeText(meter, a)
  }
  return a === b
}

// Characters; the worst case of a search compares most of the part at every place of the text.
const comparedPerStep = 1_000

/** A search for a part in a text. */
export function chargeSearch(meter: Meter, text: string, part: string): void {
  const places = text.length - part.length + 1
  chargeText(meter, text)
  if (places > 0) meter.charge((places * part.length) / comparedPerStep)
}
