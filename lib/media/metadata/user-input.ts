// User input for metadata: request schemas of single values, and their normalization. Enumerated words are
// accepted in any case; a blank text is stored as null. Errors name the path of the value.
import { Invalid } from '../../base/errors.ts'
import { writtenText } from '../../base/json/json-text.ts'
import { body, list, maybe, name, optional, strict, Type, text } from '../../base/schema.ts'
import { isbn13 } from './isbn.ts'
import { canonicalLanguage } from './language.ts'
import { httpUrl, joinSuffixes, webUrlPattern } from './text.ts'
import {
  type AlternateTitle,
  type Author,
  authorRoles,
  bookTypes,
  type CustomMetadata,
  readingDirections,
  seriesStatuses,
} from './values.ts'

const maxCustomBytes = 64 * 1024
const maxDepth = 50
const maxItems = 500
const maxWordLength = 50

/** Words as `wordParser` reads them. */
function wordPattern(words: readonly string[]): string {
  const anyCase = (word: string) =>
    [...word].map(c => (c === '_' ? '(?:_|[\\s-]+)' : `[${c.toUpperCase()}${c}]`)).join('')
  return `^\\s*(?:${words.map(anyCase).join('|')})?\\s*$`
}

/** For a text that `parseWebUrl` reads. */
export const webUrl = {
  type: 'string',
  maxLength: 2000,
  pattern: webUrlPattern,
  description: 'HTTP or HTTPS URL.',
}
/** Like `webUrl`, or a blank text for none. */
export const optionalWebUrl = { ...webUrl, pattern: `^\\s*$|${webUrlPattern}` }

/** Schemas of optional properties of a body: absent, null or a value. */
export const input = {
  text: (maxLength: number, notes: Parameters<typeof text>[1] = {}) =>
    optional(text(maxLength, notes)),
  name: (maxLength: number) => optional(name(maxLength)),
  word: (words: readonly string[]) =>
    optional(
      text(maxWordLength, {
        documentedAs: {
          anyOf: [
            { type: 'string', enum: words },
            { type: 'string', maxLength: maxWordLength, pattern: wordPattern(words) },
          ],
          description: `One of ${words.join(', ')}, in any case; blank for none.`,
        },
      }),
    ),
  integer: (minimum: number, maximum: number) => optional(Type.Integer({ minimum, maximum })),
  number: (minimum: number, maximum: number) => optional(Type.Number({ minimum, maximum })),
  boolean: () => optional(Type.Boolean()),
  texts: (maxLength: number) => optional(list(text(maxLength), { maxItems })),
  custom: () =>
    optional(
      Type.Unsafe<CustomMetadata>({
        component: 'CustomMetadataInput',
        type: 'object',
        isWritten: true,
        description:
          'Any JSON object up to 64 KiB, stored unchanged. PATCH merges it into the current one (RFC 7396).',
      }),
    ),
  authors: () =>
    optional(
      list(
        body('AuthorInput', {
          name: name(300),
          role: input.word(authorRoles),
          sortName: input.text(300),
        }),
        { maxItems },
      ),
    ),
  alternateTitles: () =>
    optional(
      list(body('AlternateTitleInput', { label: text(200), title: name(1000) }), {
        maxItems,
        description: 'A PUT without them leaves them unchanged.',
      }),
    ),
  awards: () =>
    optional(
      list(
        strict({
          name: name(500),
          year: input.integer(-9999, 9999),
          category: input.text(500),
          won: maybe(Type.Boolean()),
        }),
        { maxItems },
      ),
    ),
  bookNumber: () =>
    maybe(
      Type.Unsafe<number | string | null>({
        anyOf: [
          { type: 'number', minimum: -1_000_000_000, maximum: 1_000_000_000 },
          { type: 'string', maxLength: 50 },
          { type: 'null' },
        ],
        description: 'A number, or a text as written: `1`, `1.5`, `Annual 1`.',
      }),
    ),
}

/** Trimmed; null when blank. */
export function trimmedText(value: string): string | null {
  return value.trim() || null
}

/** Trimmed. Throws Invalid when blank. */
export function requiredText(value: string, path: string): string {
  const trimmed = trimmedText(value)
  if (trimmed === null) throw new Invalid(`${path} must not be empty`)
  return trimmed
}

function wordParser(words: readonly string[]) {
  return (value: string, path: string): string | null => {
    const word = value
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, '_')
    if (word === '') return null
    if (words.includes(word)) return word
    throw new Invalid(`${path} must be one of ${words.join(', ')}`)
  }
}

export const parseStatus = wordParser(seriesStatuses)
export const parseReadingDirection = wordParser(readingDirections)
export const parseBookType = wordParser(bookTypes)
const parseRole = wordParser(authorRoles)

/** Canonical BCP 47. */
export function parseLanguage(value: string, path: string): string | null {
  if (value.trim() === '') return null
  const tag = canonicalLanguage(value)
  if (tag === null) throw new Invalid(`${path} must be a language tag such as en or pt-BR`)
  return tag
}

/** One or more, separated by commas or semicolons; 13 digits each. */
export function parseIsbns(value: string, path: string): string[] {
  const parts = value.split(/[,;]/).filter(part => part.trim() !== '')
  const isbns = parts.map(part => isbn13(part))
  if (isbns.includes(null)) throw new Invalid(`${path} must contain only valid ISBNs`)
  return [...new Set(isbns as string[])]
}

type AuthorInput = {
  name: string
  role?: string | null | undefined
  sortName?: string | null | undefined
}

/** Lists each name once per role. */
export function parseAuthors(value: AuthorInput[], path: string): Author[] {
  const authors = new Map<string, Author>()
  for (const [i, { name, role, sortName }] of value.entries()) {
    const author = {
      name: requiredText(name, `${path}/${i}/name`),
      role: role ? parseRole(role, `${path}/${i}/role`) : null,
      sortName: sortName ? trimmedText(sortName) : null,
    }
    authors.set(JSON.stringify([author.role, author.name]), author)
  }
  return [...authors.values()]
}

/** Lists each pair of label and title once. */
export function parseAlternateTitles(value: AlternateTitle[], path: string): AlternateTitle[] {
  const titles = new Map<string, AlternateTitle>()
  for (const [i, { label, title }] of value.entries()) {
    const parsed = { label: label.trim(), title: requiredText(title, `${path}/${i}/title`) }
    titles.set(JSON.stringify([parsed.label, parsed.title]), parsed)
  }
  return [...titles.values()]
}

/** Splits a text of several names: `A, B; C`; `Marvel Comics, Inc.` is one name. */
export function splitNames(value: string): string[] {
  const names = value.split(';').flatMap(part => joinSuffixes(part.split(',')))
  return [...new Set(names)]
}

/** Removes blank texts and duplicates. */
export function uniqueTexts(value: string[]): string[] {
  return [...new Set(value.map(item => item.trim()).filter(item => item !== ''))]
}

/** An http or https URL, as other schemes could run scripts in a link. */
export function parseWebUrl(value: string, path: string): string {
  const url = httpUrl(value)
  if (url === undefined)
    throw new Invalid(
      `${path} must be an http or https URL without user name or control characters`,
    )
  return url
}

/** The JSON as it was written. Throws Invalid beyond 64 KiB. */
export const parseCustomMetadata = (value: CustomMetadata): string =>
  limitedCustomMetadata(writtenText(value))

export function limitedCustomMetadata(text: string): string {
  if (Buffer.byteLength(text) > maxCustomBytes)
    throw new Invalid('customMetadata must not exceed 64 KiB')
  return text
}

/**
 * Throws Invalid for characters that PostgreSQL cannot store, or for excessive nesting, anywhere in a body.
 */
export function checkStorable(value: unknown, depth = 0): void {
  if (depth > maxDepth) throw new Invalid('The body is nested too deeply')
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed()))
    throw new Invalid('The text contains characters that cannot be stored')
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    checkStorable(name, depth)
    checkStorable(child, depth + 1)
  }
}
