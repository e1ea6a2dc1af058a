// Values in filter conditions: what is read as a text, an id, a status, a number or a date. All throw Invalid.
import { Invalid } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import { maxListValues, maxValueLength, type ReadStatus, readStatuses } from './fields.ts'

export function parseText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new Invalid(`${path} must be a string`)
  if (value.length > maxValueLength && [...value].length > maxValueLength)
    throw new Invalid(`${path} is longer than ${maxValueLength} characters`)
  if (value.includes('\0')) throw new Invalid(`${path} must not contain a null character`)
  return value.toWellFormed()
}

export function parseList(values: unknown, path: string): unknown[] {
  if (!Array.isArray(values)) throw new Invalid(`${path} must be an array`)
  if (values.length > maxListValues)
    throw new Invalid(`${path} has more than ${maxListValues} values`)
  return values
}

export function parseUuid(value: unknown, path: string): string {
  if (typeof value !== 'string' || !isUuid(value)) throw new Invalid(`${path} must be a UUID`)
  return value.toLowerCase()
}

export function parseStatus(value: unknown, path: string): ReadStatus {
  const status = readStatuses.find(name => name === value)
  if (!status) throw new Invalid(`${path} is not one of ${readStatuses.join(', ')}`)
  return status
}

export function parseBoolean(value: unknown, path: string): boolean {
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw new Invalid(`${path} must be true or false`)
}

export function parseNumber(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new Invalid(`${path} must be a number`)
  return value
}

/** ISO 8601: also a date without a time, and a time without seconds or zone (UTC). */
export const datePattern =
  '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])(?:[Tt](?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)?)?$'
const isoDate = new RegExp(datePattern)
// Four-digit years, which PostgreSQL and toISOString write alike.
const [firstDate, lastDate] = [Date.parse('0001-01-01T00:00Z'), Date.parse('9999-12-31T23:59Z')]

/** Whether the month has that day: Date.parse reads 30 February as 1 March. */
const hasDay = (text: string): boolean =>
  new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate() === Number(text.slice(8, 10))

/** Years outside 1 to 9999 become the nearest. */
export function parseDate(value: unknown, path: string): Date {
  const text = typeof value === 'string' && isoDate.test(value) ? value.toUpperCase() : null
  const hasZone = text !== null && /Z$|T.*[+-]/.test(text)
  const time =
    text === null ? Number.NaN : Date.parse(hasZone || !text.includes('T') ? text : `${text}Z`)
  if (text === null || Number.isNaN(time) || !hasDay(text))
    throw new Invalid(`${path} must be an ISO 8601 date such as 2024-05-01T12:00:00Z`)
  return new Date(Math.min(Math.max(time, firstDate), lastDate))
}
