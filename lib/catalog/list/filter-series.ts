// Tests of series as sets of ids: hashed once, then asked for each series or book of a walk. A set
// that a test needs the rows for is read from the narrowest index that has its column.
import type { Fragment } from 'postgres'
import { searchLine } from '../search/search-text.ts'
import type { Leaf } from './filter.ts'
import type { LabelsOf } from './filter-labels.ts'
import { type Column, columnTest, type Db, every, textTest } from './filter-sql.ts'

export type SetScope = {
  sql: Db
  labels: LabelsOf
  /** Series that hold only missing books count as well. */
  includesEmpty?: boolean | undefined
}

/** Ids of the series that pass the positive form of a test on a series' own facts. */
export function seriesSet(scope: SetScope, { field, test }: Leaf): Fragment {
  const { sql } = scope
  if (test.is === 'null' && field === 'libraryId') return of(scope, sql`false`)
  if (test.is === 'ids') {
    const column = field === 'libraryId' ? sql`x.library_id` : sql`x.id`
    return of(scope, sql`${column} = any(${test.ids}::uuid[])`)
  }
  switch (field) {
    case 'genre':
    case 'tag':
      return labelSet(scope, { field, test, negated: false }, 'own')
    case 'completion':
      return of(
        scope,
        test.is === 'boolean' && test.value
          ? sql`x.book_count >= x.total_volume_count`
          : sql`x.book_count < x.total_volume_count`,
      )
    case 'hasExternalSourceId': {
      const has = sql`exists (select from series_external_id e where e.series_id = x.id)`
      return of(scope, test.is === 'boolean' && test.value ? has : sql`not ${has}`)
    }
    case 'sharingTag':
      return sharingTagSet(scope, test)
    case 'author':
      return authorSet(scope, test)
    default:
      return of(scope, columnTest(sql, columns[field]!(sql), test))
  }
}

const columns: Record<string, (sql: Db) => Column> = {
  name: sql => ({ folded: sql`x.search_key` }),
  title: sql => ({ folded: sql`x.search_key` }),
  titleSort: sql => ({ text: sql`coalesce(x.title_sort, x.title)` }),
  status: sql => ({ text: sql`x.status` }),
  publisher: sql => ({ text: sql`x.publisher` }),
  language: sql => ({ text: sql`x.language` }),
  summary: sql => ({ text: sql`x.summary` }),
  path: sql => ({ text: sql`x.folder` }),
  year: sql => ({ number: sql`x.year` }),
  dateAdded: sql => ({ date: sql`x.created_at` }),
}

function of({ sql, includesEmpty }: SetScope, test: Fragment): Fragment {
  const shown = includesEmpty ? sql`true` : sql`x.book_count > 0`
  return sql`select x.id from series x where ${shown} and ${test}`
}

/** Series with one of the labels: their own, or `any`, those of some of their books too. */
export function labelSet({ sql, labels }: SetScope, leaf: Leaf, whose: 'own' | 'any'): Fragment {
  const own = whose === 'own' ? sql`and y.is_own` : sql``
  if (leaf.test.is === 'null') {
    return sql`
      select y.series_id from series_label y join label l on l.id = y.label_id
      where l.kind = ${leaf.field} ${own}`
  }
  return sql`
    select y.series_id from series_label y
    where y.label_id = any(${labels(leaf).ids}::uuid[]) ${own}`
}

/**
 * Tests that are asked the other way round, because few have what an index knows: "has none" of
 * labels as "not: has some" (a null test then means that), "has no error" as "not: has an error".
 */
export function upright(leaf: Leaf): Leaf {
  const { field, test, negated } = leaf
  if (field === 'hasError' && test.is === 'boolean' && !test.value)
    return { ...leaf, test: { is: 'boolean', value: true }, negated: !negated }
  if (['genre', 'tag', 'sharingTag', 'author'].includes(field) && test.is === 'null')
    return { ...leaf, negated: !negated }
  return leaf
}

function sharingTagSet({ sql }: SetScope, test: Leaf['test']): Fragment {
  if (test.is !== 'text') return sql`select y.series_id from series_sharing_tag y`
  return sql`
    select y.series_id from series_sharing_tag y join sharing_tag t on t.id = y.tag_id
    where ${textTest(sql, sql`folded(t.name)`, test)}`
}

/** Names stated of the series itself, and of its books where the words are found among what searches read. */
function authorSet(scope: SetScope, test: Leaf['test']): Fragment {
  const { sql } = scope
  const named = (authors: Fragment) =>
    test.is === 'text'
      ? sql`exists (
          select from jsonb_array_elements(${authors}) a
          where ${textTest(sql, sql`folded(a->>'name')`, test)})`
      : sql`${authors} <> '[]'`
  const words = test.is === 'text' ? searchLine(test.value).split(' ') : []
  const patterns = words.filter(word => word.length > 2).map(word => `%${word}%`)
  return sql`
    ${of(scope, named(sql`x.authors`))}
    union
    select b.series_id from book_search y join book b on b.id = y.book_id
    where y.is_present and ${every(
      sql,
      patterns.map(pattern => sql`y.text like ${pattern}`),
    )}
      and ${named(sql`b.authors`)}`
}
