// Komga's full-text queries: words that must all occur, `field:value`, quotes, `OR`, `NOT` and `-`. Plain words are
// passed to the catalog search, which ranks its results; the rest becomes a condition.

import { Invalid } from '../../../base/errors.ts'
import { maxConditionNodes } from '../../../list/fields.ts'
import { isbn13 } from '../../../media/metadata/isbn.ts'
import { directionNames, storedRole } from '../values.ts'
import {
  allOfParts,
  anyOfParts,
  complement,
  nothing,
  type Part,
  predicate,
} from './condition-tree.ts'
import { type KeyContext, mediaStatus, seriesStatus } from './keys.ts'

export type FullTextQuery = {
  /** Words contained in all results. */
  text: string
  condition: Part
  /** Whether the query names missing rows. */
  includeDeleted: boolean
}

type FieldTest = (value: string, context: KeyContext) => Part
type FieldTests = Readonly<Record<string, FieldTest>>

const contains = (field: string) => (value: string) =>
  predicate(field, { kind: 'text', operator: 'contains', value })
const integer = (field: string) => (value: string) =>
  /^\d{1,9}$/.test(value)
    ? predicate(field, { kind: 'compare', operator: '=', value: Number(value) })
    : nothing
const flag = (field: string) => (value: string) =>
  predicate(field, { kind: 'boolean', value: value.toLowerCase() === 'true' })
/** The dates of a year. */
export const inYear = (field: string, value: string): Part =>
  /^[1-9]\d{3}$/.test(value)
    ? {
        all: [
          predicate(field, {
            ...{ kind: 'compare', operator: '>=' },
            value: new Date(Date.UTC(Number(value), 0)),
          }),
          predicate(field, {
            ...{ kind: 'compare', operator: '<' },
            value: new Date(Date.UTC(Number(value) + 1, 0)),
          }),
        ],
      }
    : nothing
const credit = (role: string | null) => (name: string) =>
  predicate('credit', { kind: 'credit', operator: 'contains', name, role })
/** The name of an enumeration; any other text matches nothing. */
const named = (read: (value: string) => Part) => (value: string) => {
  try {
    return read(value)
  } catch (error) {
    if (error instanceof Invalid) return nothing
    throw error
  }
}

const roles = [
  'writer',
  'penciller',
  'inker',
  'colorist',
  'letterer',
  'cover',
  'editor',
  'translator',
]
const missing = predicate('isMissing', { kind: 'boolean', value: true })
const common: FieldTests = {
  title: contains('title'),
  deleted: value => (value.toLowerCase() === 'true' ? missing : complement(missing)),
  oneshot: flag('oneShot'),
  author: credit(null),
  ...Object.fromEntries(roles.map(role => [role, credit(storedRole(role))])),
}

export const seriesFields: FieldTests = {
  ...common,
  publisher: contains('publisher'),
  status: named(value => seriesStatus(value, 'status')),
  reading_direction: value => {
    const entry = Object.entries(directionNames).find(([, name]) => name === value.toUpperCase())
    return entry ? predicate('readingDirection', { kind: 'words', words: [entry[0]] }) : nothing
  },
  age_rating: integer('ageRating'),
  language: value => predicate('language', { kind: 'text', operator: 'equals', value }),
  tag: contains('anyTag'),
  series_tag: contains('tag'),
  book_tag: contains('anyTag'),
  genre: contains('genre'),
  sharing_label: (value, { isAdmin }) => (isAdmin ? contains('sharingTag')(value) : nothing),
  release_date: value => inYear('firstRelease', value),
  total_book_count: integer('totalBookCount'),
  book_count: integer('bookCount'),
  complete: flag('complete'),
}

export const bookFields: FieldTests = {
  ...common,
  isbn: value =>
    anyOfParts([
      contains('isbn')(value),
      ...[isbn13(value)].flatMap(isbn => (isbn ? [equalsIsbn(isbn)] : [])),
    ]),
  tag: contains('ownTag'),
  release_date: value => inYear('releaseDate', value),
  status: named(value => mediaStatus(value, 'status')),
}

// A sign, a field, and a phrase or word.
const term = /([-+!]|\bNOT\s+)?(?:([a-z_]{3,20}):(?=\S))?(?:"([^"]*)"?|(\S+))/gy

type Term = { word: string | null; condition: Part; includeDeleted?: boolean }

/** The cost is linear in the length of the query. Throws Invalid for a query with too many terms. */
export function parseFullText(
  query: string,
  fields: FieldTests,
  context: KeyContext,
): FullTextQuery {
  // Groups are read as their words; a wildcard at the end of a word is implied by prefix matching.
  const text = query.replace(/[()]/g, ' ').trim()
  const groups: Term[][] = []
  let isAlternative = false
  term.lastIndex = 0
  for (const [, sign = '', field, phrase, word = ''] of matchesOf(text)) {
    if (phrase === undefined && (word === 'OR' || word === '||')) {
      isAlternative = groups.length > 0
      continue
    }
    if (phrase === undefined && (word === 'AND' || word === '&&')) continue
    const made = toTerm(
      { field, value: phrase ?? word, isPhrase: phrase !== undefined },
      fields,
      context,
    )
    const isNegated = sign !== '' && sign !== '+'
    const one = isNegated && made.condition ? negated(made) : made
    if (isAlternative) groups.at(-1)!.push(one)
    else groups.push([one])
    isAlternative = false
    if (groups.length > maxConditionNodes) throw new Invalid('The query has too many words')
  }
  const isPlain = (group: Term[]) => group.length === 1 && group[0]!.word !== null
  return {
    text: groups
      .filter(isPlain)
      .map(([one]) => one!.word)
      .join(' '),
    includeDeleted: groups.flat().some(one => one.includeDeleted),
    condition: allOfParts(
      groups
        .filter(group => !isPlain(group))
        .map(group => anyOfParts(group.map(({ condition }) => condition))),
    ),
  }
}

function* matchesOf(text: string) {
  for (let at = 0; at < text.length; ) {
    if (/\s/.test(text[at]!)) {
      at++
      continue
    }
    term.lastIndex = at
    const match = term.exec(text)
    if (!match) return
    yield match
    at = term.lastIndex
  }
}

type RawTerm = { field: string | undefined; value: string; isPhrase: boolean }

function toTerm(
  { field, value, isPhrase }: RawTerm,
  fields: FieldTests,
  context: KeyContext,
): Term {
  const plain = value.replace(/[*?~]+$|~\d*$/g, '')
  if (field !== undefined && Object.hasOwn(fields, field) && plain !== '')
    return {
      ...{ word: null, condition: fields[field]!(plain, context) },
      includeDeleted: field === 'deleted' && plain.toLowerCase() === 'true',
    }
  const whole = field === undefined ? plain : `${field}:${plain}`
  const isbn = Object.hasOwn(fields, 'isbn') ? isbn13(whole) : null
  if (isbn)
    return { word: null, condition: anyOfParts([contains('text')(whole), equalsIsbn(isbn)]) }
  // A colon within a word does not split it.
  return { word: isPhrase ? plain : whole, condition: contains('text')(whole) }
}

const equalsIsbn = (value: string) => predicate('isbn', { kind: 'text', operator: 'equals', value })

/** The words and phrases of a query that must all occur in names: `"Favs"`, `name:Favs`, `Fav*`. */
export function wordsOfNames(query: string): string[] {
  const words: string[] = []
  for (const [, sign = '', field, phrase, word = ''] of matchesOf(query.replace(/[()]/g, ' '))) {
    if (phrase === undefined && /^(?:AND|OR|&&|\|\|)$/.test(word)) continue
    const value = phrase ?? word.replace(/[*?~]+$|~\d*$/g, '')
    const text = field === undefined || field === 'name' ? value : `${field}:${value}`
    if (text !== '' && (sign === '' || sign === '+')) words.push(text)
  }
  return words
}

function negated({ condition }: Term): Term {
  return { word: null, condition: condition && complement(condition) }
}
