// Lists of series in order, a page at a time, with exact totals. Series without present books are
// not listed.
import type { Fragment, Sql } from 'postgres'
import { isUnrestricted, seesSeries, showsBooks, type Viewer } from '../../auth/viewer.ts'
import { searchQuery } from '../search/search-text.ts'
import { inOrder, nearer } from './book-pages.ts'
import type { SeriesFilter } from './filter.ts'
import { every } from './filter-sql.ts'
import { planSeries, type SeriesPlan } from './series-plan.ts'
import type { Direction, SeriesSort } from './sort.ts'
import { oneOff } from './unprepared.ts'

export type SeriesWanted = {
  filter: SeriesFilter | null
  /** Words to look for; empty or null for none. */
  text?: string | null | undefined
  libraryId?: string | undefined
  /** Leaves out series all of whose books are hidden from the viewer by themselves. */
  withBooks?: boolean | undefined
}

export type SeriesAsked = SeriesWanted & {
  sort?: SeriesSort | undefined
  direction?: Direction | undefined
  /** From 1. */
  page: number
  pageSize: number
}

type Listed = { ids: string[]; total: number }

/** Ids of one page of the series that the viewer may see, and how many there are on all pages. */
export async function listSeries(sql: Sql, viewer: Viewer, asked: SeriesAsked): Promise<Listed> {
  const { direction = 'asc', page, pageSize, filter, libraryId } = asked
  const query = searchQuery(asked.text ?? '')
  if (!query && asked.text?.trim()) return { ids: [], total: 0 }
  const sort = orderedBy(asked.sort, query !== null)
  const window = { offset: (page - 1) * pageSize, limit: pageSize }
  if (!query && !filter) {
    const total = await countSeen(sql, viewer, asked)
    const way = { sort, direction, accountId: viewer.accountId }
    return { total, ids: await walk(sql, seen(sql, viewer, asked), way, { ...window, total }) }
  }
  const plan = await planSeries(sql, viewer, {
    ...{ filter, libraryId, query },
    withBooks: asked.withBooks,
  })
  if (sort === 'relevance') return await ranked(sql, plan, window)
  const matched = sql`(s.id in (select id from matched)) is true`
  const [row] = await oneOff(sql<Listed[]>`
    with ${plan.ctes}
    select (select count(*) from matched)::float8 as total, array(
      ${
        sort === 'title'
          ? byTitle(sql, direction)
          : walked(sql, matched, { sort, direction, accountId: viewer.accountId, turned: false })
      }
      limit ${window.limit} offset ${window.offset}) as ids`)
  return row!
}

function orderedBy(sort: SeriesSort | undefined, hasText: boolean): SeriesSort {
  if (hasText) return sort ?? 'relevance'
  return sort === undefined || sort === 'relevance' ? 'title' : sort
}

/** Series by the first character of their sort title, lower-case, in the order of titles. */
export async function alphabeticalGroups(
  sql: Sql,
  viewer: Viewer,
  asked: SeriesWanted,
): Promise<{ group: string; count: number }[]> {
  const query = searchQuery(asked.text ?? '')
  if (!query && asked.text?.trim()) return []
  const plan = await planSeries(sql, viewer, { ...asked, query })
  // Digits and what comes before them are written otherwise in the key than in the title.
  return await oneOff(sql<{ group: string; count: number }[]>`
    with ${plan.ctes}
    select initial as "group", count(*)::integer as count
    from (
      select case when left(m.sort_key, 1) > '9' collate "C" then left(m.sort_key, 1)
        else left(folded(coalesce(s.title_sort, s.title)), 1) end as initial, m.sort_key
      from matched m
      join series s on s.id = m.id
    ) t
    group by initial
    order by min(sort_key), initial`)
}

type Way = { sort: SeriesSort; direction: Direction; accountId: string; turned: boolean }
type Place = { offset: number; limit: number; total: number }

type Seen = Pick<SeriesWanted, 'libraryId' | 'withBooks'>

/** On `series s` with present books. */
function seen(sql: Sql, viewer: Viewer, { libraryId, withBooks }: Seen): Fragment {
  return every(sql, [
    seesSeries(sql, viewer),
    ...(libraryId === undefined ? [] : [sql`s.library_id = ${libraryId}`]),
    ...(withBooks ? [showsBooks(sql, viewer)] : []),
  ])
}

async function countSeen(sql: Sql, viewer: Viewer, wanted: Seen): Promise<number> {
  const isAll = wanted.libraryId === undefined && isUnrestricted(viewer)
  const counted = isAll
    ? sql`select coalesce(sum(series_count), 0)::float8 as total from library`
    : sql`
      select count(*)::float8 as total from series s
      where s.book_count > 0 and ${seen(sql, viewer, wanted)}`
  const [row] = await oneOff(sql<{ total: number }[]>`${counted}`)
  return row!.total
}

/** From the end that is nearer. */
async function walk(
  sql: Sql,
  belongs: Fragment,
  way: Omit<Way, 'turned'>,
  place: Place,
): Promise<string[]> {
  const { skip, take, turned } = nearer(place)
  if (take === 0) return []
  const rows = await oneOff(sql<{ id: string }[]>`
    ${walked(sql, belongs, { ...way, turned })} limit ${take} offset ${skip}`)
  return inOrder(rows, turned)
}

/** What is matched has its key beside it. */
function byTitle(sql: Sql, direction: Direction): Fragment {
  const down = direction === 'desc' ? sql`desc` : sql`asc`
  return sql`select m.id from matched m order by m.sort_key ${down}, m.id ${down}`
}

/** Along the index of the order, asking each series. */
function walked(sql: Sql, belongs: Fragment, way: Way): Fragment {
  const read =
    way.sort === 'read'
      ? sql`left join series_reading r on r.account_id = ${way.accountId} and r.series_id = s.id`
      : sql``
  return sql`
    select s.id from series s ${read}
    where s.book_count > 0 and ${belongs}
    order by ${orderOf(sql, way)}`
}

const columns = {
  title: 'sort_key',
  created: 'created_at',
  updated: 'updated_at',
  year: 'year',
  books: 'book_count',
  size: 'size',
  filename: 'name_key',
  pages: 'page_count',
} as const

/** Nulls last both ways, the id as last key. */
function orderOf(sql: Sql, { sort, direction, turned }: Way): Fragment {
  const down = (direction === 'desc') !== turned ? sql`desc` : sql`asc`
  const nulls = turned ? sql`nulls first` : sql`nulls last`
  if (sort === 'read') {
    const back = turned ? sql`desc` : sql`asc`
    return sql`r.last_read_at ${down} ${nulls}, s.sort_key ${back}, s.id ${back}`
  }
  const column = sql`s.${sql(columns[sort as keyof typeof columns])}`
  return sql`${column} ${down} ${sort === 'year' ? nulls : sql``}, s.id ${down}`
}

async function ranked(
  sql: Sql,
  plan: SeriesPlan,
  { offset, limit }: { offset: number; limit: number },
) {
  const [row] = await oneOff(sql<Listed[]>`
    with ${plan.ctes}
    select (select count(*) from matched)::float8 as total, array(
      select id from matched order by rank, sort_key, id limit ${limit} offset ${offset}) as ids`)
  return row!
}
