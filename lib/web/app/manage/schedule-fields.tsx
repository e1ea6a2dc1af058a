// Schedule fields for library scans.
import { useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { Select, TextField } from '../ui/field.tsx'
import { cronOf, type Preset, type Schedule, scheduleOf, weekdayName } from './cron.ts'
import type { Scanning } from './library-draft.ts'

const presets: readonly Preset[] = ['off', 'hourly', 'everyHours', 'daily', 'weekly', 'custom']
const everyHours = [2, 3, 4, 6, 8, 12]
const timeZones = Intl.supportedValuesOf('timeZone')

type ScheduleFieldsProps = { scanning: Scanning; onChange: (changes: Partial<Scanning>) => void }

export function ScheduleFields({ scanning, onChange }: ScheduleFieldsProps) {
  const cron = scanning.enabled ? scanning.cronSchedule : null
  const [schedule, setSchedule] = useState<Schedule>(() => scheduleOf(cron))
  const change = (changes: Partial<Schedule>) => {
    const next = { ...schedule, ...changes }
    setSchedule(next)
    if (next.preset === 'custom') onChange({ cronSchedule: cron ?? '0 3 * * *', enabled: true })
    else onChange({ cronSchedule: cronOf(next), enabled: next.preset !== 'off' })
  }
  const { preset } = schedule
  return (
    <div class="form-row">
      <Select<Preset>
        label={t('schedule.label')}
        value={preset}
        options={presets.map(value => ({ value, text: t(`schedule.${value}`) }))}
        onChange={preset => change({ preset })}
      />
      {preset === 'everyHours' && (
        <Select<string>
          label={t('schedule.interval')}
          value={String(schedule.hours)}
          options={hoursOf(schedule.hours).map(hours => ({
            value: String(hours),
            text: t('schedule.hours', { count: hours }),
          }))}
          onChange={hours => change({ hours: Number(hours) })}
        />
      )}
      {preset === 'weekly' && (
        <Select<string>
          label={t('schedule.weekday')}
          value={String(schedule.weekday)}
          options={[1, 2, 3, 4, 5, 6, 0].map(day => ({
            value: String(day),
            text: weekdayName(day),
          }))}
          onChange={weekday => change({ weekday: Number(weekday) })}
        />
      )}
      {(preset === 'daily' || preset === 'weekly') && (
        <TextField
          label={t('schedule.time')}
          type="time"
          required
          value={schedule.time}
          onInput={time => time && change({ time })}
        />
      )}
      {preset === 'custom' && (
        <TextField
          label={t('schedule.cron')}
          hint={t('schedule.cronHint')}
          value={scanning.cronSchedule ?? ''}
          dir="ltr"
          required
          onInput={cronSchedule => onChange({ cronSchedule, enabled: true })}
        />
      )}
      {preset !== 'off' && <TimeZoneField scanning={scanning} onChange={onChange} />}
    </div>
  )
}

/** Common intervals and the current one. */
const hoursOf = (hours: number) => [...new Set([...everyHours, hours])].sort((a, b) => a - b)

function TimeZoneField({ scanning, onChange }: ScheduleFieldsProps) {
  return (
    <Select<string>
      label={t('schedule.timeZone')}
      value={scanning.cronTimezone ?? ''}
      options={[
        { value: '', text: t('schedule.serverTimeZone') },
        ...timeZones.map(zone => ({ value: zone, text: zone })),
      ]}
      onChange={zone => onChange({ cronTimezone: zone || null })}
    />
  )
}
