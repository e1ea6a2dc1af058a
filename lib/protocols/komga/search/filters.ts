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
const anyOfEach = (keys: Record<string, string>, filters: object): Tree[] =>
  Object.entries(keys).map(([name, key]) => anyIs(key, (filters as Lists<string>)[name]))
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

type Lists<N extends string> = { [K in N]?: string[] | undefined }
type Flags<N extends string> = { [K in N]?: boolean | undefined }

/** Condition keys of parameters whose values are compared as they are. */
const seriesKeys = {
  ...{ library_id: 'libraryId', collection_id: 'collectionId', status: 'seriesStatus' },
  ...{ read_status: 'readStatus', publisher: 'publisher', language: 'language', genre: 'genre' },
  ...{ tag: 'tag', sharing_label: 'sharingLabel' },
}
export type SeriesFilters = Lists<
  keyof typeof seriesKeys | 'age_rating' | 'release_year' | 'author'
> &
  Flags<'deleted' | 'complete' | 'oneshot'> & { search_regex?: string | undefined }

/** Throws Invalid. */
export function seriesFilters(filters: SeriesFilters, context: KeyContext): ParsedCondition {
  const tree = {
    allOf: [
      ...anyOfEach(seriesKeys, filters),
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

const bookKeys = {
  ...{
    library_id: 'libraryId',
    media_status: 'mediaStatus',
    read_status: 'readStatus',
    tag: 'tag',
  },
}
export type BookFilters = Lists<keyof typeof bookKeys | 'author'> &
  Flags<'deleted'> & { released_after?: string | undefined }

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
      ...anyOfEach(bookKeys, filters),
      { allOf: after ? [{ releaseDate: { operator: 'after', dateTime: after } }] : [] },
      flagged('deleted', filters.deleted),
      authors(filters.author),
    ],
  }
  return parseBookCondition(tree, context)
}
