// Unsaved metadata changes: values, locks, validation, and server errors by field.
import { ApiError } from '../../api/errors.ts'
import { messageOf, validationText } from '../../text/error-message.ts'
import { formatNumber, t } from '../../text/translate.ts'
import type { Field } from './fields.ts'
import { isSame, type Locks, type MetadataRecord, type Values } from './record.ts'

export type Draft = { values: Values; locks: Locks }
export const emptyDraft: Draft = { values: {}, locks: {} }
/** Messages by field name; `form` for others. */
export type Errors = Readonly<Record<string, string>>

export const isChanged = ({ values, locks }: Draft) =>
  Object.keys(values).length + Object.keys(locks).length > 0

/** Sets a value; the original value is no change. */
export function withValue(
  draft: Draft,
  record: MetadataRecord,
  { name, value }: { name: string; value: unknown },
): Draft {
  const { [name]: _, ...rest } = draft.values
  const values = isSame(value, record.values[name]) ? rest : { ...rest, [name]: value }
  return { ...draft, values }
}

/** Whether a field will be locked: changed fields become locked unless they are unlocked explicitly. */
export function isLocked(draft: Draft, record: MetadataRecord, { name, lock }: Field): boolean {
  if (lock === null) return false
  return draft.locks[lock] ?? (name in draft.values || (record.locks[lock] ?? false))
}

export function withLock(draft: Draft, record: MetadataRecord, field: Field): Draft {
  const lock = field.lock!
  const next = !isLocked(draft, record, field)
  const { [lock]: _, ...rest } = draft.locks
  const isAsSaved = next === (field.name in draft.values || (record.locks[lock] ?? false))
  return { ...draft, locks: isAsSaved ? rest : { ...rest, [lock]: next } }
}

/** Errors of changed values by field name. */
export function validate(fields: readonly Field[], values: Values): Errors {
  const errors: Record<string, string> = {}
  for (const field of fields) {
    if (!(field.name in values)) continue
    const error = errorOf(field, values[field.name])
    if (error) errors[field.name] = error
  }
  return errors
}

function errorOf(field: Field, value: unknown): string | null {
  switch (field.kind) {
    case 'text':
      return field.isRequired && value === null ? t('metadata.error.required') : null
    case 'number': {
      if (value === null) return null
      const { min, max, isInteger } = field
      const isNumber = typeof value === 'number' && (!isInteger || Number.isInteger(value))
      if (!isNumber) return t(isInteger ? 'metadata.error.integer' : 'metadata.error.number')
      if (value >= min && value <= max) return null
      const range = {
        min: formatNumber(min, { useGrouping: false }),
        max: formatNumber(max, { useGrouping: false }),
      }
      return t('metadata.error.range', range)
    }
    case 'json':
      return typeof value === 'string' ? t('metadata.error.object') : null
    case 'links':
      return (value as { url: string }[]).every(({ url }) => /^https?:\/\/[^\s/]/i.test(url))
        ? null
        : t('metadata.error.url')
    default:
      return null
  }
}

/** Incomplete rows are not saved, such as an added row that stayed empty. */
export function withoutEmptyRows(values: Values): Values {
  const required: Record<string, string[]> = {
    authors: ['name'],
    alternateTitles: ['title'],
    awards: ['name'],
    links: ['sourceName', 'url'],
  }
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const columns = required[name]
      if (!columns) return [name, value]
      const rows = (value as Record<string, unknown>[]).filter(row =>
        columns.every(column => String(row[column] ?? '').trim() !== ''),
      )
      return [name, rows]
    }),
  )
}

/** Values refused by the server, by field name. */
export function errorsOf(error: unknown, fields: readonly Field[]): Errors {
  if (!(error instanceof ApiError) || error.status !== 400) return { form: messageOf(error) }
  const details = Array.isArray(error.details)
    ? (error.details as { path?: string; message?: string; code?: string; limit?: number }[])
    : []
  const errors: Record<string, string> = {}
  const all = details.length > 0 ? details : pathOfMessage(error.message)
  for (const { path = '', ...detail } of all) {
    const name = path.split('/')[1] ?? ''
    const field = fields.find(field => field.name === name)
    const key = field ? field.name : 'form'
    errors[key] ??=
      field?.name === 'language' || field?.name === 'languageIso'
        ? t('metadata.error.language')
        : validationText(detail)
  }
  return errors
}

function pathOfMessage(message: string) {
  const [, path, rest] = /^(body\/\S+) (.*)$/s.exec(message) ?? []
  return path === undefined ? [{ path: '', message }] : [{ path, message: rest! }]
}
