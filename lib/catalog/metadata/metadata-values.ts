// What users write into metadata: the shapes of fields, and how a value becomes what is stored. Words
// are taken in any case; an empty text is no text. All throw Invalid with the place of the value.
import { Invalid } from '../../errors.ts'
import { isbn13 } from '../../metadata/isbn.ts'
import { canonicalLanguage } from '../../metadata/language.ts'
import {
  type AlternateTitle,
  type Author,
  readingDirections,
  seriesStatuses,
} from '../../metadata/metadata.ts'
import { body, list, maybe, nullable, Type, text } from '../../schema.ts'

export const authorRoles = [
  'author',
  'co_author',
  'editor',
  'translator',
  'illustrator',
  'contributor',
  'writer',
  'penciller',
  'inker',
  'colorist',
  'letterer',
  'cover_artist',
  'narrator',
] as const

export const bookTypes = [
  'comic',
  'manga',
  'novel',
  'novella',
  'anthology',
  'artbook',
  'oneshot',
  'omnibus',
  'graphic_novel',
  'magazine',
] as const

export type Custom = Record<string, unknown>
const customBytes = 64 * 1024
const deepest = 50
const mostItems = 500

/** Fields of a body, each absent, null or a value. */
export const field = {
  text: (maxLength: number, description?: string) =>
    maybe(nullable(text(maxLength, description ? { description } : {}))),
  word: (words: readonly string[]) =>
    maybe(nullable(text(50, { description: `One of ${words.join(', ')}.` }))),
  integer: (minimum: number, maximum: number) =>
    maybe(nullable(Type.Integer({ minimum, maximum }))),
  number: (minimum: number, maximum: number) => maybe(nullable(Type.Number({ minimum, maximum }))),
  boolean: () => maybe(nullable(Type.Boolean())),
  texts: (maxLength: number) => maybe(nullable(list(text(maxLength), { maxItems: mostItems }))),
  custom: () =>
    maybe(
      nullable(
        Type.Unsafe<Custom>({
          type: 'object',
          description:
            'Any JSON object up to 64 KiB, kept as it is. PATCH merges it into what is there (RFC 7396).',
        }),
      ),
    ),
  authors: () =>
    maybe(
      nullable(
        list(
          body({
            name: text(300),
            role: field.word(authorRoles),
            sortName: field.text(300),
          }),
          { maxItems: mostItems },
        ),
      ),
    ),
}

type GivenAuthor = {
  name: string
  role?: string | null | undefined
  sortName?: string | null | undefined
}

export function plainText(value: string): string | null {
  return value.trim() || null
}

/** For texts that must not be empty. */
export function wording(value: string, at: string): string {
  const plain = plainText(value)
  if (plain === null) throw new Invalid(`${at} must not be empty`)
  return plain
}

function wordOf(words: readonly string[]) {
  return (value: string, at: string): string | null => {
    const word = value
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, '_')
    if (word === '') return null
    if (words.includes(word)) return word
    throw new Invalid(`${at} must be one of ${words.join(', ')}`)
  }
}

export const statusOf = wordOf(seriesStatuses)
export const directionOf = wordOf(readingDirections)
export const bookTypeOf = wordOf(bookTypes)
const roleOf = wordOf(authorRoles)

/** Canonical BCP 47. */
export function languageOf(value: string, at: string): string | null {
  if (value.trim() === '') return null
  const tag = canonicalLanguage(value)
  if (tag === null) throw new Invalid(`${at} must be a language tag such as en or pt-BR`)
  return tag
}

/** One or several, separated by commas; 13 digits each. */
export function isbnsOf(value: string, at: string): string[] {
  const parts = value.split(/[,;]/).filter(part => part.trim() !== '')
  const isbns = parts.map(part => isbn13(part))
  if (isbns.includes(null)) throw new Invalid(`${at} must hold valid ISBNs only`)
  return [...new Set(isbns as string[])]
}

/** Each person once a role. */
export function authorsOf(value: GivenAuthor[], at: string): Author[] {
  const authors = new Map<string, Author>()
  for (const [i, { name, role, sortName }] of value.entries()) {
    const author = {
      name: wording(name, `${at}/${i}/name`),
      role: role ? roleOf(role, `${at}/${i}/role`) : null,
      sortName: sortName ? plainText(sortName) : null,
    }
    authors.set(JSON.stringify([author.role, author.name]), author)
  }
  return [...authors.values()]
}

/** Each label and title once. */
export function titlesOf(value: AlternateTitle[], at: string): AlternateTitle[] {
  const titles = new Map<string, AlternateTitle>()
  for (const [i, { label, title }] of value.entries()) {
    const plain = { label: label.trim(), title: wording(title, `${at}/${i}/title`) }
    titles.set(JSON.stringify([plain.label, plain.title]), plain)
  }
  return [...titles.values()]
}

/** Names that one text lists: `A, B; C`. */
export function namesIn(value: string): string[] {
  const names = value.split(/[,;]/).map(name => name.trim())
  return [...new Set(names.filter(name => name !== ''))]
}

/** Without blanks and repetitions. */
export function texts(value: string[]): string[] {
  return [...new Set(value.map(item => item.trim()).filter(item => item !== ''))]
}

/** An address that may stand in a link: http or https. */
export function webAddress(value: string, at: string): string {
  const address = value.trim()
  const url = URL.parse(address)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new Invalid(`${at} must be an http or https address`)
  return address
}

/** `before` with a patch merged in (RFC 7396). */
export function mergeCustom(before: Custom | null, patch: Custom): Custom {
  return merge(before, patch) as Custom
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const members = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch))
    if (value === null) members.delete(name)
    else members.set(name, merge(members.get(name), value))
  return Object.fromEntries(members)
}

function isObject(value: unknown): value is Custom {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Refuses more than 64 KiB. */
export function checkCustom(value: Custom | null): Custom | null {
  if (value !== null && Buffer.byteLength(JSON.stringify(value)) > customBytes)
    throw new Invalid('customMetadata must not be larger than 64 KiB')
  return value
}

/** Refuses what the database cannot hold, and nesting without end, anywhere in a body. */
export function checkStorable(value: unknown, depth = 0): void {
  if (depth > deepest) throw new Invalid('The body is nested too deeply')
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed()))
    throw new Invalid('The text holds characters that cannot be stored')
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    checkStorable(name, depth)
    checkStorable(member, depth + 1)
  }
}
