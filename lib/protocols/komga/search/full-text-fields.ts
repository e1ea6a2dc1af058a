// Fields of Komga's full-text queries, each as conditions of the list engine: of a value, of a range, of a word that may be
// misspelled.
import { Invalid } from '../../../base/errors.ts'
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

/** Without a bound for null. */
export type Range = { from: string | null; to: string | null; hasFrom: boolean; hasTo: boolean }

export type Field = {
  is: (value: string, context: KeyContext) => Part
  /** A field without ranges has none that matches. */
  within?: (range: Range) => Part
  /** Without it the word is read as written. */
  similar?: (word: string) => Part
}
export type Fields = Readonly<Record<string, Field>>

const containing = (field: string) => (value: string) =>
  predicate(field, { kind: 'text', operator: 'contains', value })
const contains = (field: string): Field => ({ is: containing(field) })

/** As written, or a similar word. */
const similarTo = (field: string, word: string, { isTitle = false } = {}): Part =>
  anyOfParts([containing(field)(word), predicate('text', { kind: 'similar', word, isTitle })])

type Bound = number | Date
/** From the first to before the end. */
type Span = { first: Bound; end: Bound }

/** Values that `spanOf` reads; the others match nothing. */
function ranged(field: string, spanOf: (value: string) => Span | null): Field {
  const compare = (operator: '>=' | '<', value: Bound) =>
    predicate(field, { kind: 'compare', operator, value })
  const within = ({ from, to, hasFrom, hasTo }: Range): Part => {
    const [first, last] = [from, to].map(bound => (bound === null ? undefined : spanOf(bound)))
    if (first === null || last === null) return nothing
    if (!first && !last) return predicate(field, { kind: 'null' }, true)
    return allOfParts([
      first ? compare('>=', hasFrom ? first.first : first.end) : null,
      last ? compare('<', hasTo ? last.end : last.first) : null,
    ])
  }
  return { is: value => within({ from: value, to: value, hasFrom: true, hasTo: true }), within }
}

const integer = (field: string) =>
  ranged(field, value =>
    /^\d{1,9}$/.test(value) ? { first: Number(value), end: Number(value) + 1 } : null,
  )

/** A year, a month or a day: `2010`, `2010-05`, `2010-05-31`. */
function daysOf(value: string): Span | null {
  const match = /^([1-9]\d{3})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?$/.exec(value)
  if (!match) return null
  const [year, month, day] = match.slice(1).map(part => (part ? Number(part) : null))
  const date = (years: number, months: number, days: number) =>
    new Date(Date.UTC(year! + years, (month ?? 1) - 1 + months, (day ?? 1) + days))
  const end = day ? date(0, 0, 1) : month ? date(0, 1, 0) : date(1, 0, 0)
  return { first: date(0, 0, 0), end }
}
const dates = (field: string) => ranged(field, daysOf)

/** The dates of a year. */
export const inYear = (field: string, value: string): Part =>
  /^\d{4}$/.test(value) ? dates(field).is(value, { isAdmin: false, now: new Date() }) : nothing

const flag = (field: string): Field => ({
  is: value => predicate(field, { kind: 'boolean', value: value.toLowerCase() === 'true' }),
})
const credit = (role: string | null): Field => ({
  is: name => predicate('credit', { kind: 'credit', operator: 'contains', name, role }),
})
/** The name of an enumeration; another text matches nothing. */
const named = (read: (value: string) => Part): Field => ({
  is: value => {
    try {
      return read(value)
    } catch (error) {
      if (error instanceof Invalid) return nothing
      throw error
    }
  },
})

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
const common: Fields = {
  title: { is: containing('title'), similar: word => similarTo('title', word, { isTitle: true }) },
  deleted: { is: value => (value.toLowerCase() === 'true' ? missing : complement(missing)) },
  oneshot: flag('oneShot'),
  author: credit(null),
  ...Object.fromEntries(roles.map(role => [role, credit(storedRole(role))])),
}

export const seriesFields: Fields = {
  ...common,
  publisher: contains('publisher'),
  status: named(value => seriesStatus(value, 'status')),
  reading_direction: {
    is: value => {
      const entry = Object.entries(directionNames).find(([, name]) => name === value.toUpperCase())
      return entry ? predicate('readingDirection', { kind: 'words', words: [entry[0]] }) : nothing
    },
  },
  age_rating: integer('ageRating'),
  language: { is: value => predicate('language', { kind: 'text', operator: 'equals', value }) },
  tag: contains('anyTag'),
  series_tag: contains('tag'),
  book_tag: contains('anyTag'),
  genre: contains('genre'),
  sharing_label: {
    is: (value, { isAdmin }) => (isAdmin ? containing('sharingTag')(value) : nothing),
  },
  release_date: dates('firstRelease'),
  total_book_count: integer('totalBookCount'),
  book_count: integer('bookCount'),
  complete: flag('complete'),
}

const equalsIsbn = (value: string) => predicate('isbn', { kind: 'text', operator: 'equals', value })

export const bookFields: Fields = {
  ...common,
  isbn: {
    is: value =>
      anyOfParts([
        containing('isbn')(value),
        ...[isbn13(value)].flatMap(isbn => (isbn ? [equalsIsbn(isbn)] : [])),
      ]),
  },
  tag: contains('ownTag'),
  release_date: dates('releaseDate'),
  status: named(value => mediaStatus(value, 'status')),
}

/** A word of no field, of which there is an ISBN where books are searched. */
export function anywhere(word: string, fields: Fields): { condition: Part; isText: boolean } {
  const isbn = Object.hasOwn(fields, 'isbn') ? isbn13(word) : null
  const text = containing('text')(word)
  return isbn
    ? { condition: anyOfParts([text, equalsIsbn(isbn)]), isText: false }
    : { condition: text, isText: true }
}

/** The same for a word that may be misspelled. */
export const anywhereSimilar = (word: string): Part => similarTo('text', word)
