// The settings there are: what administrators change while the server runs. What is no setting here may
// still be a row of the table, of the server's own.
import { hash } from 'node:crypto'
import { cronFault, isTimeZone } from '../cron.ts'
import { Invalid, NotFound } from '../errors.ts'

type Kind = 'Boolean' | 'Integer' | 'String'
type Definition = {
  type: Kind
  default: boolean | number | string
  category: string
  description: string
  /** Of an Integer: bounds. Of a String: the longest, in characters. */
  min?: number
  max?: number
  /** Of a String: what is wrong with it, in words; null when it is right. */
  check?: (value: string) => string | null
  /** Shown as asterisks, also in its history. */
  isSensitive?: true
}

const schedule = (value: string) => (value === '' ? null : cronFault(value))
const timeZone = (value: string) =>
  value === '' || isTimeZone(value) ? null : 'It should be like Europe/Berlin'

/** Every setting by its key. */
export const settings = {
  'application.name': {
    type: 'String',
    default: 'Stackroom',
    max: 100,
    category: 'Application',
    description: 'Name of this server in clients and feeds.',
  },
  'auth.registration_enabled': {
    type: 'Boolean',
    default: false,
    category: 'Authentication',
    description: 'Lets anyone register an account.',
  },
  'deduplication.cron_schedule': {
    type: 'String',
    default: '',
    max: 200,
    category: 'Deduplication',
    description: 'When to look for duplicates besides, five fields (0 4 * * *); empty is never.',
    check: schedule,
  },
  'deduplication.enabled': {
    type: 'Boolean',
    default: true,
    category: 'Deduplication',
    description: 'Looks for duplicates after scans that changed something.',
  },
  'display.custom_metadata_template': {
    type: 'String',
    default: '',
    max: 65_536,
    category: 'Display',
    description: 'Template with which clients show custom metadata.',
  },
  'events.retention_minutes': {
    type: 'Integer',
    default: 90,
    min: 60,
    max: 1440,
    category: 'Events',
    description: 'How long a client may be away and still get every event it missed.',
  },
  'purge.purge_empty_series': {
    type: 'Boolean',
    default: true,
    category: 'Purge',
    description: 'Erases series that a purge leaves without books.',
  },
  'scheduler.timezone': {
    type: 'String',
    default: '',
    max: 100,
    category: 'Scheduler',
    description:
      "Time zone of schedules that name none (Europe/Berlin); empty is the server's own.",
    check: timeZone,
  },
  'tasks.retention_days': {
    type: 'Integer',
    default: 7,
    min: 1,
    max: 365,
    category: 'Tasks',
    description: 'How long tasks and scans that have ended are kept.',
  },
  'upkeep.cron_schedule': {
    type: 'String',
    default: '0 3 * * *',
    max: 200,
    category: 'Upkeep',
    description: 'When to clear away what nobody needs any more, five fields; empty is never.',
    check: schedule,
  },
  'watch.poll_seconds': {
    type: 'Integer',
    default: 60,
    min: 5,
    max: 86_400,
    category: 'Watching',
    description: 'How often a library is looked at that is polled.',
  },
} as const satisfies Record<string, Definition>

export type SettingKey = keyof typeof settings
type Wide<T> = T extends boolean ? boolean : T extends number ? number : string
export type SettingValue<K extends SettingKey> = Wide<(typeof settings)[K]['default']>

/** The key, if it is that of a setting. Throws NotFound. */
export function settingKey(key: string): SettingKey {
  if (Object.hasOwn(settings, key)) return key as SettingKey
  throw new NotFound('There is no setting of this key')
}

export function definitionOf(key: SettingKey): Definition {
  return settings[key]
}

/** A value of a request as it is stored: JSON of the setting's type, or the same as text. Throws Invalid. */
export function parseSetting(key: SettingKey, given: unknown): boolean | number | string {
  const { type, min, max, check } = definitionOf(key)
  if (type === 'Boolean') {
    if (given === true || given === 'true') return true
    if (given === false || given === 'false') return false
    throw new Invalid(`${key} must be true or false`)
  }
  if (type === 'Integer') {
    const number = typeof given === 'string' && /^-?\d{1,15}$/.test(given) ? Number(given) : given
    const isRight =
      Number.isSafeInteger(number) &&
      (number as number) >= (min ?? Number.MIN_SAFE_INTEGER) &&
      (number as number) <= (max ?? Number.MAX_SAFE_INTEGER)
    if (isRight) return number as number
    throw new Invalid(`${key} must be a whole number from ${min} to ${max}`)
  }
  if (typeof given !== 'string') throw new Invalid(`${key} must be a text`)
  if (max !== undefined && given.length > max)
    throw new Invalid(`${key} is longer than ${max} characters`)
  const fault = check?.(given) ?? null
  if (fault !== null) throw new Invalid(`${key} is not right: ${fault}`)
  return given
}

/** A stored value as it is sent. */
export function settingText(key: SettingKey, value: unknown): string {
  return definitionOf(key).isSensitive ? '********' : String(value)
}

/** Settings have a name and no id of their own; clients of other servers want one. */
export function settingId(key: string): string {
  const hex = hash('sha256', `stackroom setting ${key}`, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
