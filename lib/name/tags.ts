// Classification of bracketed text in file names: dates, counts, editions, sources, languages.
import { type NamedDate, parseDate } from './dates.ts'

export const bookForms = ['tpb', 'hard-cover', 'omnibus', 'one-shot', 'annual', 'special'] as const
export type BookForm = (typeof bookForms)[number]

export type Tag =
  | { kind: 'date'; date: NamedDate }
  /** `(of 6)`, `(1 of 3)` */
  | { kind: 'count'; count: number; number: string | null }
  | { kind: 'edition'; text: string }
  /** `(digital-Empire)`: source and release group. */
  | { kind: 'source'; text: string; group: string | null }
  | { kind: 'language'; code: string }
  /** `(Children of Time, #2)` after a title */
  | { kind: 'series'; name: string; number: string }
  | { kind: 'number'; text: string }
  | { kind: 'other'; text: string }

const count = /^(?:(\d{1,4}) )?of (\d{1,4})$/i
const source =
  /^((?:hd[- ]?)?web[- ]?rip|webp|digital(?:[- ]hd|[- ]compilations?)?|scan(?:s|lation|ned)?|c2c|retail|kobo|kindle|official)(?:-(.+))?$/i
const edition =
  /\b(?:editions?|omnibus|tpb|gn|ogn|hc|hard ?cover|trade paper ?back|graphic novel|uncensored|full colou?r|colou?red|remaster(?:ed)?|deluxe|one[- ]?shot|os)$/i
const ofSeries = /^(\p{L}[^#]{0,200}?),? #(\d{1,4}(?:\.\d{1,3})?)$/u
const languages: Record<string, string> = {
  en: 'en',
  eng: 'en',
  english: 'en',
  fr: 'fr',
  fra: 'fr',
  fre: 'fr',
  french: 'fr',
  francais: 'fr',
  français: 'fr',
  de: 'de',
  ger: 'de',
  deu: 'de',
  german: 'de',
  deutsch: 'de',
  es: 'es',
  spa: 'es',
  esp: 'es',
  spanish: 'es',
  español: 'es',
  it: 'it',
  ita: 'it',
  italian: 'it',
  italiano: 'it',
  pt: 'pt',
  por: 'pt',
  portuguese: 'pt',
  'pt-br': 'pt-BR',
  ru: 'ru',
  rus: 'ru',
  russian: 'ru',
  ja: 'ja',
  jp: 'ja',
  jpn: 'ja',
  japanese: 'ja',
  raw: 'ja',
  ko: 'ko',
  kr: 'ko',
  kor: 'ko',
  korean: 'ko',
  zh: 'zh',
  cn: 'zh',
  chi: 'zh',
  chinese: 'zh',
  nl: 'nl',
  dutch: 'nl',
  pl: 'pl',
  polish: 'pl',
  th: 'th',
  thai: 'th',
  vi: 'vi',
  id: 'id',
  tr: 'tr',
  ar: 'ar',
  cs: 'cs',
  sv: 'sv',
}

/** Classifies the text inside of a pair of brackets. */
export function readTag(text: string): Tag {
  const counted = count.exec(text)
  if (counted) return { kind: 'count', number: counted[1] ?? null, count: Number(counted[2]) }
  const date = parseDate(text)
  if (date) return { kind: 'date', date }
  const code = Object.hasOwn(languages, text.toLowerCase()) && languages[text.toLowerCase()]
  if (code) return { kind: 'language', code }
  const sourced = source.exec(text)
  if (sourced) return { kind: 'source', text: sourced[1]!, group: sourced[2] ?? null }
  if (edition.test(text)) return { kind: 'edition', text }
  const inSeries = ofSeries.exec(text)
  if (inSeries) return { kind: 'series', name: inSeries[1]!, number: inSeries[2]! }
  if (/^\d{1,4}(?:\.\d{1,2})?$/.test(text)) return { kind: 'number', text }
  return { kind: 'other', text }
}

const forms: [BookForm, RegExp][] = [
  ['omnibus', /\bomnibus\b/i],
  ['hard-cover', /\bhard[ -]?cover\b|^hc$/i],
  ['tpb', /\btrade[ -]?paper[ -]?back\b|\btpb\b/i],
  ['one-shot', /\bone[ -]?shot\b|^os$/i],
  ['annual', /\bannual\b/i],
  ['special', /(?:^| - )(?:specials?|omake|extras?|bonus(?: chapter)?)$/i],
]

/** The form of book named in a text, or null. */
export function formOf(text: string): BookForm | null {
  return forms.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}
