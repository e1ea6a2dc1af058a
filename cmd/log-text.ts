// Formats log lines for a terminal: time, level unless it is info, message and members.
import { inspect } from 'node:util'

type Entry = {
  time: number
  level: number
  msg?: string
  err?: { stack?: string }
  [member: string]: unknown
}

const levels = new Map([
  [10, 'trace'],
  [20, 'debug'],
  [40, 'warning'],
  [50, 'error'],
  [60, 'fatal'],
])

/**
 * `10:35:47 warning: message member=value`, followed by an error's stack. Any other line is returned
 * unchanged.
 */
export function logText(line: string): string {
  let entry: Entry
  try {
    entry = JSON.parse(line)
  } catch {
    return line
  }
  const { time, level, msg = '', err, pid: _pid, hostname: _hostname, ...members } = entry
  const clock = new Date(time).toTimeString().slice(0, 8)
  const name = levels.get(level)
  const values = Object.entries(members).map(([key, value]) => `  ${key}=${valueText(value)}`)
  const stack = err?.stack ? `\n${err.stack}` : ''
  return `${withoutControls(`${clock} ${name ? `${name}: ` : ''}${msg}${values.join('')}${stack}`)}\n`
}

const valueText = (value: unknown) =>
  typeof value === 'string' && !/[\s="]/.test(value)
    ? value
    : inspect(value, { breakLength: Infinity })

/** Prevents file names and request headers from controlling the terminal. */
export function withoutControls(text: string) {
  return text.replace(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    '\ufffd',
  )
}
