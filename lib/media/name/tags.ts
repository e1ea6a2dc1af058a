// Splits off and classifies bracketed text in file names: dates, counts, editions, sources, languages.
import { byWord } from '../../base/words.ts'
import { type NamedDate, parseDate } from './dates.ts'

const bookForms = ['tpb', 'hard-cover', 'omnibus', 'one-shot', 'annual', 'special'] as const
export type BookForm = (typeof bookForms)[number]

export type Tag =
  | { kind: 'date'; date: NamedDate }
  /** `(of 6)`, `(1 of 3)` */
  | { kind: 'count'; count: number; number: string | null }
  | { kind: 'edition'; text: string }
  /** `(digital-Empire)`: source and release group. */
  | { kind: 'source'; text: string; group: string | null }
  | { kind: 'language'; code: string }
  /** `(Children of Time, #2)` after a title; `isVolume`: `(The Expanse Book 1)` */
  | { kind: 'series'; name: string; number: string; isVolume: boolean }
  /** `(Panini, 2012)` */
  | { kind: 'publisher'; text: string; date: NamedDate }
  /** `[v2]`, `{r2}`, `(f2)`, `(v1.1)` */
  | { kind: 'version' }
  | { kind: 'number'; text: string }
  | { kind: 'other'; text: string }

const count = /^(?:(\d{1,4}) )?of (\d{1,4})$/i
const source =
  /^((?:hd[- ]?)?web[- ]?rip|webp|digital(?:[- ]hd|[- ]compilations?)?|scan(?:s|lation|ned)?|c2c|retail|kobo|kindle|official)(?:-(.+))?$/i
const edition =
  /\b(?:editions?|omnibus|tpb|gn|ogn|hc|hard[ -]?cover|trade[ -]?paper[ -]?back|graphic novel|uncensored|full colou?r|colou?red|remaster(?:ed)?|deluxe|one[- ]?shot|os)$/i
const ofSeries = /^(\p{L}[^#]{0,200}?),? (#|book )(\d{1,4}(?:\.\d{1,3})?)$/iu
const version = /^(?:[vrf]|ver\.? ?)\d(?:\.\d{1,2})?$/i
const languages = byWord({
  en: 'en, eng, english',
  fr: 'fr, fra, fre, french, francais, français, vf, vff',
  de: 'de, ger, deu, german, deutsch',
  es: 'es, spa, esp, spanish, español, castellano',
  it: 'it, ita, italian, italiano',
  pt: 'pt, por, portuguese',
  'pt-BR': 'pt-br, ptbr',
  ru: 'ru, rus, russian, рус',
  ja: 'ja, jp, jpn, japanese, raw',
  ko: 'ko, kr, kor, korean',
  zh: 'zh, cn, chi, chinese',
  nl: 'nl, dutch, nld',
  pl: 'pl, polish, pol, polski',
  th: 'th, thai',
  cs: 'cs, cze',
  sv: 'sv, swe',
  ...{ vi: 'vi', id: 'id', tr: 'tr', ar: 'ar', hu: 'hun' },
})

/** `Author - [The Expanse 01] - Title`: a series between dashes. */
export function readSeriesTag(text: string): Tag | null {
  const match = /^(\p{L}.{0,200}?),? #?(\d{1,3}(?:\.\d{1,2})?)$/u.exec(text)
  return match && { kind: 'series', name: match[1]!, number: match[2]!, isVolume: false }
}

/** Classifies the text inside a pair of brackets. */
export function readTag(text: string): Tag {
  const counted = count.exec(text)
  if (counted) return { kind: 'count', number: counted[1] ?? null, count: Number(counted[2]) }
  const date = parseDate(text)
  if (date) return { kind: 'date', date }
  const code = languages.get(text.toLowerCase())
  if (code) return { kind: 'language', code }
  const sourced = source.exec(text)
  if (sourced) return { kind: 'source', text: sourced[1]!, group: sourced[2] ?? null }
  if (edition.test(text)) return { kind: 'edition', text }
  const inSeries = ofSeries.exec(text)
  if (inSeries) {
    const [, name = '', sign, number = ''] = inSeries
    return { kind: 'series', name, number, isVolume: sign !== '#' }
  }
  if (version.test(text)) return { kind: 'version' }
  const published = readPublisher(text)
  if (published) return published
  if (/^\d{1,4}(?:\.\d{1,2})?(?:-\d{1,4})?$/.test(text)) return { kind: 'number', text }
  return { kind: 'other', text }
}

// `(Panini, 2012)`, `(Lug - mars 1980)`, `(2005, Carlsen)`
function readPublisher(text: string): Tag | null {
  const words = text.split(/[\s,;]+|(?<=\s)-(?=\s)/).filter(word => word !== '' && word !== '-')
  if (words.length < 2 || words.length > 8) return null
  for (let i = 1; i < words.length; i++) {
    const start = words.slice(0, i).join(' ')
    const end = words.slice(i).join(' ')
    for (const [name, rest] of [
      [start, end],
      [end, start],
    ] as const) {
      const date = /\d/.test(name) ? null : parseDate(rest)
      if (date?.year) return { kind: 'publisher', text: name, date }
    }
  }
  return null
}

const forms: [BookForm, RegExp][] = [
  [
    'omnibus',
    /\bomnibus\b|\bcompendium\b|(?<!\p{L})int[eé]grale?(?!\p{L})|\bgesamtausgabe\b|\bsammelband\b/iu,
  ],
  ['hard-cover', /\bhard[ -]?cover\b|^hc$/i],
  ['tpb', /\btrade[ -]?paper[ -]?back\b|\btpb\b/i],
  ['one-shot', /\bone[ -]?shot\b|^os$/i],
  ['annual', /\bannual\b/i],
  ['special', / HS$/],
  [
    'special',
    /(?:^| - )(?:specials?|omake|extras?|bonus(?: chapter)?)$|(?<!\p{L})(?:special|spécial|especial|speciale|spezial|sonder(?:band|heft)|hors[ -]s[eé]rie)$/iu,
  ],
]

/** The book form named in a text, or null. */
export function formOf(text: string): BookForm | null {
  return forms.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}

const openers = '([{【「『（［'
const closers = ')]}】」』）］'

/**
 * Splits a file name into text outside and inside brackets: `flat` has one `\n` in place of each of the
 * `groups`. Nested and unbalanced brackets are tolerated: `(digital (Empire)` contains `digital` and `Empire`.
 */
export function splitBrackets(text: string): { flat: string; groups: string[] } {
  const lastCloser = Math.max(...[...closers].map(closer => text.lastIndexOf(closer)))
  const groups: string[] = []
  let flat = ''
  let depth = 0
  let from = 0
  const flush = (to: number) => {
    const piece = text.slice(from, to)
    if (depth === 0) flat += piece
    else if (piece.trim() !== '') {
      groups.push(piece.trim())
      flat += '\n'
    }
  }
  for (let i = 0; i <= lastCloser; i++) {
    const char = text.charAt(i)
    const isOpener = openers.includes(char)
    if (!isOpener && (depth === 0 || !closers.includes(char))) continue
    flush(i)
    depth += isOpener ? 1 : -1
    from = i + 1
  }
  // No bracket closes after this position, so the rest is not inside a group.
  depth = 0
  flush(text.length)
  return { flat, groups }
}
