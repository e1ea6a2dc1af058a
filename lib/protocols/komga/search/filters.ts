// Filters of Komga's GET lists as search conditions: any value of a parameter, and all parameters together.
import { Invalid } from '../../../base/errors.ts'
import { type ParsedCondition, parseBookCondition, parseSeriesCondition } from './condition.ts'
import { allOfParts, anyOfParts, type Part, predicate } from './condition-tree.ts'
import { inYear } from './full-text-fields.ts'
import type { KeyContext } from './keys.ts'

type Values = readonly string[] | undefined
type Tree = Record<string, unknown>

const is = (value: unknown) => ({ operator: 'is', value })
const anyIs = (key: string, values: Values): Tree => ({
  anyOf: (values ?? []).map(value => ({ [key]: is(value) })),
})
const flagged = (key: string, value: boolean | undefined): Tree => ({
  allOf: value === undefined ? [] : [{ [key]: { operator: value ? 'isTrue' : 'isFalse' } }],
})

/** `name,role`, where the name may contain commas. */
function author(text: string): Tree {
  const at = text.lastIndexOf(',')
  const value = at < 0 ? { name: text } : { name: text.slice(0, at), role: text.slice(at + 1) }
  return { author: is(value) }
}
const authors = (values: Values): Tree => ({ anyOf: (values ?? []).map(author) })

const ageRating = (value: string): Tree => ({
  ageRating: value.toLowerCase() === 'none' ? { operator: 'isNull' } : is(value),
})

export type SeriesFilters = {
  library_id?: string[] | undefined
  collection_id?: string[] | undefined
  status?: string[] | undefined
  read_status?: string[] | undefined
  publisher?: string[] | undefined
  language?: string[] | undefined
  genre?: string[] | undefined
  tag?: string[] | undefined
  age_rating?: string[] | undefined
  release_year?: string[] | undefined
  sharing_label?: string[] | undefined
  deleted?: boolean | undefined
  complete?: boolean | undefined
  oneshot?: boolean | undefined
  author?: string[] | undefined
  search_regex?: string | undefined
}

/** Throws Invalid. */
export function seriesFilters(filters: SeriesFilters, context: KeyContext): ParsedCondition {
  const tree = {
    allOf: [
      anyIs('libraryId', filters.library_id),
      anyIs('collectionId', filters.collection_id),
      anyIs('seriesStatus', filters.status),
      anyIs('readStatus', filters.read_status),
      anyIs('publisher', filters.publisher),
      anyIs('language', filters.language),
      anyIs('genre', filters.genre),
      anyIs('tag', filters.tag),
      anyIs('sharingLabel', filters.sharing_label),
      { anyOf: (filters.age_rating ?? []).map(ageRating) },
      flagged('deleted', filters.deleted),
      flagged('complete', filters.complete),
      flagged('oneShot', filters.oneshot),
      authors(filters.author),
    ],
  }
  const { condition, includeDeleted } = parseSeriesCondition(tree, context)
  const all = allOfParts([
    condition,
    anyOfParts((filters.release_year ?? []).map(year => inYear('firstRelease', year))),
    filters.search_regex === undefined ? null : titlePattern(filters.search_regex),
  ])
  return { condition: all, includeDeleted }
}

// Characters, escaped or not, and character sets: no repetition except a trailing `.*`.
const safePattern =
  /^\^?(?:\[\^?[^[\]\\]{1,50}\]|\\[^a-zA-Z0-9]|[^\\[\](){}.*+?|^$])*(?:\.\*)?\$?$/u
const maxPatternLength = 200

/** `regex,TITLE` or `regex,TITLE_SORT`. Throws Invalid for expressions that could take long. */
function titlePattern(parameter: string): Part {
  const at = parameter.lastIndexOf(',')
  const [pattern, name] = [parameter.slice(0, Math.max(at, 0)), parameter.slice(at + 1)]
  if (name !== 'TITLE' && name !== 'TITLE_SORT')
    throw new Invalid('search_regex must end in ,TITLE or ,TITLE_SORT')
  if (pattern.length > maxPatternLength || pattern.includes('\0') || !safePattern.test(pattern))
    throw new Invalid(
      'search_regex must consist of characters and character sets without repetition',
    )
  const field = name === 'TITLE' ? 'title' : 'titleSort'
  return predicate(field, { kind: 'pattern', pattern: pattern.toWellFormed().toLowerCase() })
}

export type BookFilters = {
  library_id?: string[] | undefined
  media_status?: string[] | undefined
  read_status?: string[] | undefined
  released_after?: string | undefined
  tag?: string[] | undefined
  deleted?: boolean | undefined
  author?: string[] | undefined
}

/** `scope` is the series or read list whose books are listed. Throws Invalid. */
export function bookFilters(
  filters: BookFilters,
  scope: { seriesId?: string; readListId?: string },
  context: KeyContext,
): ParsedCondition {
  const { released_after: after } = filters
  const tree = {
    allOf: [
      ...Object.entries(scope).map(([key, id]) => ({ [key]: is(id) })),
      anyIs('libraryId', filters.library_id),
      anyIs('mediaStatus', filters.media_status),
      anyIs('readStatus', filters.read_status),
      anyIs('tag', filters.tag),
      { allOf: after ? [{ releaseDate: { operator: 'after', dateTime: after } }] : [] },
      flagged('deleted', filters.deleted),
      authors(filters.author),
    ],
  }
  return parseBookCondition(tree, context)
}
