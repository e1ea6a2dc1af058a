// Full-text search: rows of book_search and series_search that have all words of a query, and their rank. Each of both is
// written twice, as SQL and on a text in memory.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, hidesBooks } from '../../accounts/viewer.ts'
import {
  joinedLines,
  ofBooks,
  parseSearchQuery,
  type SearchQuery,
  type SearchWord,
  similarWord,
} from '../../media/name/search-text.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { allOf, anyOf } from '../../store/postgres/statement.ts'
import type { Condition, Predicate } from '../condition.ts'
import { isSeenBook } from './seen-books.ts'
import type { Context, Match } from './where.ts'

/** A search as a predicate. */
export const searchCondition = (value: string): Condition => ({
  ...{ field: 'text', negated: false },
  test: { kind: 'text', operator: 'contains', value },
})

/** On a search row `t`: it has all words of the query. */
export function matchesQuery(sql: Queryable, { words }: SearchQuery): Fragment {
  return allOf(
    sql,
    words.flatMap(({ parts, pattern }) => {
      const isPlain = anyOf(
        sql,
        parts.map(part => sql`t.text like ${`%${part}%${joinedLines}%`}`),
      )
      if (pattern === null) return [isPlain]
      // The joined lines contain what the pattern finds, and the trigram index finds what they contain. Not `or`, for
      // which PostgreSQL could read an index twice.
      return [
        sql`t.text like ${`%${parts[0]}%`}`,
        sql`case when ${isPlain} then true else t.text ~ ${pattern} end`,
      ]
    }),
  )
}

/** On a search row `t`: its title has the word. */
function isInTitle(sql: Queryable, { parts, pattern }: SearchWord): Fragment {
  const title = sql`split_part(t.text, ${'\n'}, 1)`
  const isPlain = anyOf(
    sql,
    parts.map(part => sql`${title} like ${`%${part}%`}`),
  )
  if (pattern === null) return isPlain
  const joinedTitle = sql`split_part(split_part(t.text, ${joinedLines}, 2), ${'\n'}, 1)`
  return sql`case when ${isPlain} then true when ${joinedTitle} like ${`%${parts[0]}%`}
    then (${title} || ${'\n'}) ~ ${pattern} else false end`
}

/** The rank of a search row `t`, from 0 (the query is the title) to 7 (the title lacks a word). */
export function matchRank(sql: Queryable, { phrase, core, joined, words }: SearchQuery): Fragment {
  const title = sql`split_part(t.text, ${'\n'}, 1)`
  const isJoinedTitle = sql`t.text like ${`%${joinedLines}${joined} %`}`
  const hasAll = allOf(
    sql,
    words.map(word => isInTitle(sql, word)),
  )
  // Most matches of a frequent word are not in the title, and the phrase can be nowhere else.
  return sql`case
    when not ${hasAll} then 7
    when starts_with(t.text, ${` ${phrase}\n`}) then 0
    when ${title} like ${`% ${core}%`} and ${isJoinedTitle} then 1
    when starts_with(t.text, ${` ${phrase}`}) then 2
    when ${title} like ${`% ${phrase}%`} then 3
    when ${isJoinedTitle} then 4
    when t.text like ${`%${joinedLines}${joined}%`} then 5
    else 6 end`
}

/** As `matchesQuery` and `matchRank` have it, on the texts of search rows; null for a text that does not match. */
export function createMatcher({ phrase, core, joined, words }: SearchQuery) {
  const tests = words.map(({ parts, pattern }) => {
    const joins = pattern === null ? null : new RegExp(pattern)
    return {
      whole: pattern === null ? '' : parts[0]!,
      isIn: (text: string, end: number) =>
        parts.some(part => isBefore(text, part, end)) || joins?.test(text) === true,
    }
  })
  const rankOf = (text: string) => {
    const title = text.slice(0, text.indexOf('\n') + 1)
    if (!tests.every(({ isIn }) => isIn(title, title.length))) return 7
    if (title === ` ${phrase}\n`) return 0
    const isJoinedTitle = text.includes(`${joinedLines}${joined} `)
    if (isJoinedTitle && title.includes(` ${core}`)) return 1
    if (title.startsWith(` ${phrase}`)) return 2
    if (title.includes(` ${phrase}`)) return 3
    if (isJoinedTitle) return 4
    return text.includes(`${joinedLines}${joined}`) ? 5 : 6
  }
  return (text: string): number | null => {
    const end = text.lastIndexOf(joinedLines)
    const matches = tests.every(({ whole, isIn }) => text.includes(whole) && isIn(text, end))
    return matches ? rankOf(text) : null
  }
}

function isBefore(text: string, part: string, end: number): boolean {
  const at = text.indexOf(part)
  return at >= 0 && at < end
}

/** On a search row `t`; null for a text without letters and digits. */
function rowTest(sql: Queryable, { test }: Predicate): Fragment | null {
  if (test.kind === 'similar') {
    const word = similarWord(test.word, test)
    if (!word) return null
    const parts = word.parts.map(part => sql`t.text like ${`%${part}%`}`)
    return sql`(${anyOf(sql, parts)} and t.text ~ ${word.pattern})`
  }
  const query = test.kind === 'text' ? parseSearchQuery(test.value) : null
  return query && matchesQuery(sql, query)
}

export function searchedBooks({ sql, includesMissing }: Context, predicate: Predicate): Match {
  const matches = rowTest(sql, predicate)
  if (!matches) return { test: sql`false` }
  const isListed = includesMissing ? sql`true` : sql`t.is_present`
  return { ids: sql`select t.book_id from book_search t where ${isListed} and ${matches}` }
}

/** Without what only books have that an age limit hides. */
export function searchedSeries({ sql, viewer }: Context, predicate: Predicate): Match {
  const matches = rowTest(sql, predicate)
  if (!matches) return { test: sql`false` }
  const found = sql`select t.series_id, t.text from series_search t where ${matches}`
  if (!hidesBooks(viewer)) return { ids: sql`select m.series_id from (${found}) m` }
  // With `limit`, unlike `exists`, it is not made a set of all books found.
  const ofBook = sql`(
    select true from book y join book_search t on t.book_id = y.id
    where y.series_id = m.series_id and ${isSeenBook(sql, viewer)} and ${matches} limit 1)`
  const own = sql`regexp_replace(m.text, ${`\\${ofBooks}[^${joinedLines}]*`}, '', 'g')`
  return {
    ids: sql`
      select m.series_id from (${found}) m
      where m.series_id not in (select y.series_id ${fromBooksBeyondAge(sql, viewer)})
        or (select ${matches} from (select ${own} as text) t)
        or ${ofBook}`,
  }
}
