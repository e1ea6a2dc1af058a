// Translated texts of the application, with plurals, numbers and dates.
import { computed, signal } from '@preact/signals'
import { assetUrl } from '../api/assets.ts'
import { readStorage, writeStorage } from '../api/storage.ts'
import type { Catalog, Text } from './catalog.ts'
import type english from './en.json'
import { type Language, languageAndScript, languages, matchLanguage } from './languages.ts'

/** Keys of the catalog `en.json`; every language has the same. */
export type TextKey = keyof typeof english

const isRightToLeft = (tag: string) => /^(?:ar|fa|he|ur)\b/.test(tag)
const storageKey = 'stackroom.language'
/** Made of the English texts, for tests and translators: `?pseudo-locale` in the address. CLDR has the tag for this use. */
export const pseudoLocale = 'ar-XB'

export const language = signal<Language | typeof pseudoLocale>('en')
const texts = signal<Catalog>({})

/**
 * The text of a key. `{name}` is replaced by the named value; a text with plural forms takes the form for
 * `count`. Components that call it are rendered again when the language changes.
 */
export function t(key: TextKey, values: Record<string, string | number> = {}): string {
  const text = texts.value[key]
  if (text === undefined) return key
  const form = typeof text === 'string' ? text : pluralForm(text, Number(values.count ?? 0))
  return form.replace(/\{(\w+)\}/g, (placeholder, name) => {
    const value = values[name]
    if (value === undefined) return placeholder
    const shown = typeof value === 'number' ? formatNumber(value) : value
    // A name in another direction must not rearrange the sentence around it.
    return isRightToLeft(language.value) ? `\u2068${shown}\u2069` : shown
  })
}

function pluralForm(forms: Exclude<Text, string>, count: number): string {
  const rule = new Intl.PluralRules(language.value).select(count)
  return forms[rule] ?? forms.other ?? ''
}

/** The text of a key built at run time, such as the name of a role; `fallback` if there is none. */
export function textOr(
  key: string,
  fallback: string,
  values: Record<string, string | number> = {},
): string {
  return key in texts.value ? t(key as TextKey, values) : fallback
}

/** Loads the chosen language, or the browser's first supported one. */
export async function startLanguage(): Promise<void> {
  if (new URLSearchParams(location.search).has('pseudo-locale'))
    return await loadLanguage(pseudoLocale)
  const chosen = readStorage(storageKey)
  const isKnown = chosen !== null && chosen in languages
  await loadLanguage(isKnown ? (chosen as Language) : (matchLanguage(navigator.languages) ?? 'en'))
}

export async function chooseLanguage(next: Language): Promise<void> {
  writeStorage(storageKey, next)
  await loadLanguage(next)
}

async function loadLanguage(next: Language | typeof pseudoLocale): Promise<void> {
  texts.value =
    next === pseudoLocale
      ? (await import('./pseudo.ts')).pseudoTexts(await loadTexts('en'))
      : await loadTexts(next)
  language.value = next
  document.documentElement.lang = next
  document.documentElement.dir = isRightToLeft(next) ? 'rtl' : 'ltr'
}

async function loadTexts(next: Language): Promise<Catalog> {
  const response = await fetch(assetUrl(`text/${next}.json`))
  if (!response.ok) throw new Error(`The texts cannot be loaded: ${response.status}`)
  return await response.json()
}

const browserLocale = computed(() => {
  const wanted = languageAndScript(language.value)
  return navigator.languages.find(tag => languageAndScript(tag) === wanted) ?? language.value
})

/** Includes the browser's region, which affects dates, weeks and numbers. */
export const locale = (): string => browserLocale.value

export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(locale(), options).format(value)
}

/** `style`: `date` such as 3 May 2026, `time` with hours and minutes, `dateTime` both. */
export function formatDate(
  value: string | number | Date,
  style: 'date' | 'time' | 'dateTime' = 'date',
): string {
  return new Intl.DateTimeFormat(locale(), {
    ...(style !== 'time' && { dateStyle: 'medium' }),
    ...(style !== 'date' && { timeStyle: 'short' }),
  }).format(new Date(value))
}

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** Time from now, such as “3 days ago”. */
export function formatRelative(value: string | number | Date): string {
  const seconds = (new Date(value).getTime() - Date.now()) / 1000
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' })
  return format.format(Math.round(seconds / length), unit)
}

/** A size such as 1.5 MB. */
export function formatBytes(bytes: number): string {
  const names = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
  const power = Math.min(names.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const options = {
    style: 'unit',
    unit: names[power],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power > 1 ? 1 : 0,
  }
  return formatNumber(bytes / 1000 ** power, options as Intl.NumberFormatOptions)
}

/** A duration such as 2 h 5 min. */
export function formatDuration(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  const unit = (value: number, unit: string) =>
    formatNumber(value, { style: 'unit', unit, unitDisplay: 'narrow' } as Intl.NumberFormatOptions)
  if (seconds < 60) return unit(Math.round(seconds), 'second')
  if (minutes < 60) return unit(minutes, 'minute')
  const rest = minutes % 60
  return unit(Math.floor(minutes / 60), 'hour') + (rest ? ` ${unit(rest, 'minute')}` : '')
}

/** Fields that have several names in the API, by the name of their text. */
const aliases: Record<string, string> = {
  addedAt: 'dateAdded',
  externalLinks: 'links',
  formatDetail: 'format',
  languageIso: 'language',
  seriesStatus: 'status',
}

const plainName = (name: string) => aliases[name] ?? name

/** Key of the text of a field of series and books. */
export const fieldKey = (name: string): string => `field.${plainName(name)}`

export const hintKey = (name: string): string => `metadata.hint.${plainName(name)}`

/** Null for a field with any number of values. */
export function valueKey(field: string, value: string): string | null {
  switch (plainName(field)) {
    case 'bookType':
      return `metadata.bookType.${value}`
    case 'readingDirection':
      return `direction.${value}`
    case 'readStatus':
      return `readStatus.${value}`
    case 'status':
      return `series.status.${value}`
    default:
      return null
  }
}
