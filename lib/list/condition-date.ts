// Dates in filter conditions: ISO 8601, a date or a date-time.
import { Invalid } from '../base/errors.ts'

/** Also a date without a time, and a time without seconds or zone (UTC). */
export const datePattern =
  '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])(?:[Tt](?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)?)?$'
const isoDate = new RegExp(datePattern)
// Four-digit years, which PostgreSQL and toISOString write alike.
const [firstDate, lastDate] = [Date.parse('0001-01-01T00:00Z'), Date.parse('9999-12-31T23:59Z')]

/** Whether the month has that day: Date.parse reads 30 February as 1 March. */
const hasDay = (text: string): boolean =>
  new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate() === Number(text.slice(8, 10))

/** Years outside 1 to 9999 become the nearest. Throws Invalid. */
export function parseDate(value: unknown, path: string): Date {
  const text = typeof value === 'string' && isoDate.test(value) ? value.toUpperCase() : null
  const hasZone = text !== null && /Z$|T.*[+-]/.test(text)
  const time =
    text === null ? Number.NaN : Date.parse(hasZone || !text.includes('T') ? text : `${text}Z`)
  if (text === null || Number.isNaN(time) || !hasDay(text))
    throw new Invalid(`${path} must be an ISO 8601 date such as 2024-05-01T12:00:00Z`)
  return new Date(Math.min(Math.max(time, firstDate), lastDate))
}
