// Scan schedules: common ones as choices, and cron expressions in words.
import { locale, t } from '../text/translate.ts'

export type Preset = 'off' | 'hourly' | 'everyHours' | 'daily' | 'weekly' | 'custom'

export type Schedule = {
  preset: Preset
  /** For `everyHours`. */
  hours: number
  /** For `daily` and `weekly`, such as `03:00`. */
  time: string
  /** For `weekly`: 0 is Sunday. */
  weekday: number
}

const standard: Schedule = { preset: 'off', hours: 6, time: '03:00', weekday: 0 }
const two = (value: string | number) => String(value).padStart(2, '0')

/** The choice for a cron expression; null is no schedule. */
export function scheduleOf(cron: string | null): Schedule {
  if (cron === null) return standard
  const text = cron.trim().replace(/\s+/g, ' ')
  if (/^\d+ \* \* \* \*$/.test(text)) return { ...standard, preset: 'hourly' }
  const hours = /^\d+ \*\/(\d+) \* \* \*$/.exec(text)
  if (hours) return { ...standard, preset: 'everyHours', hours: Number(hours[1]) }
  const fixed = /^(\d+) (\d+) \* \* (\*|[0-7])$/.exec(text)
  if (!fixed) return { ...standard, preset: 'custom' }
  const [, minute, hour, weekday] = fixed as unknown as [string, string, string, string]
  const time = `${two(hour)}:${two(minute)}`
  return weekday === '*'
    ? { ...standard, preset: 'daily', time }
    : { ...standard, preset: 'weekly', time, weekday: Number(weekday) % 7 }
}

/** Null without a schedule; `custom` has its own field. */
export function cronOf({ preset, hours, time, weekday }: Schedule): string | null {
  const [hour = 3, minute = 0] = time.split(':').map(Number)
  if (preset === 'hourly') return '0 * * * *'
  if (preset === 'everyHours') return `0 */${hours} * * *`
  if (preset === 'daily') return `${minute} ${hour} * * *`
  if (preset === 'weekly') return `${minute} ${hour} * * ${weekday}`
  return null
}

/** The name of a weekday; 0 is Sunday. */
export function weekdayName(weekday: number): string {
  // 4 January 1970 was a Sunday.
  const date = new Date(Date.UTC(1970, 0, 4 + weekday))
  return new Intl.DateTimeFormat(locale(), { weekday: 'long', timeZone: 'UTC' }).format(date)
}

function timeText(time: string): string {
  const date = new Date(`1970-01-01T${time}:00Z`)
  const format = new Intl.DateTimeFormat(locale(), { timeStyle: 'short', timeZone: 'UTC' })
  return format.format(date)
}

/** A cron expression in words, or itself if it is not a common one. */
export function cronText(cron: string): string {
  const { preset, hours, time, weekday } = scheduleOf(cron)
  if (preset === 'hourly') return t('schedule.hourly')
  if (preset === 'everyHours') return t('schedule.text.everyHours', { count: hours })
  if (preset === 'daily') return t('schedule.text.daily', { time: timeText(time) })
  if (preset === 'weekly')
    return t('schedule.text.weekly', { day: weekdayName(weekday), time: timeText(time) })
  return cron
}
