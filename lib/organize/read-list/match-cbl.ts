// Matching the entries of a CBL file with the books that an account sees: by id, otherwise by the series name, the
// year of its volume and the number.
import type { Sql } from 'postgres'
import {
  isUnrestricted,
  presentBook,
  type Viewer,
  visibleBook,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { sortNumber, stripLeadingZeros } from '../../media/name/number.ts'
import { searchKey } from '../../media/name/text.ts'
import { unprepared } from '../../store/postgres/statement.ts'
import type { CblEntry } from './cbl-file.ts'

export type MatchedBook = {
  id: string
  title: string
  number: string | null
  seriesId: string
  seriesTitle: string
  year: number | null
}

/**
 * `exact`: nothing contradicts it, and nothing else matches as well. `alternative`: a different volume or name, or one
 * of several. `missing`: no such series or number.
 */
export type CblMatch = {
  match: 'exact' | 'alternative' | 'missing'
  book: MatchedBook | null
  /** Other books, best first. */
  others: MatchedBook[]
}

type Candidate = MatchedBook & {
  place: number
  /** Whether an id matches. */
  isSame: boolean
  isTitle: boolean
  isSameNumber: boolean
  /** Null if one of the two is unknown. */
  hasVolume: boolean | null
  yearsApart: number | null
}

const maxCandidates = 6

// Entries per statement; other requests are served between statements. The longest names take 60 µs each.
const entriesAtOnce = 1_000

/** Matches in the order of the entries. */
export async function matchCbl(
  sql: Sql,
  viewer: Viewer,
  entries: readonly CblEntry[],
): Promise<CblMatch[]> {
  const matches: CblMatch[][] = []
  for (let start = 0; start < entries.length; start += entriesAtOnce)
    matches.push(await matchSome(sql, viewer, entries.slice(start, start + entriesAtOnce)))
  return matches.flat()
}

async function matchSome(sql: Sql, viewer: Viewer, entries: readonly CblEntry[]) {
  const candidates = Map.groupBy(await findCandidates(sql, viewer, entries), ({ place }) => place)
  return entries.map((_, place) => choose(candidates.get(place) ?? []))
}

function choose(candidates: Candidate[]): CblMatch {
  const [best, second] = candidates
  const plain = ({ id, title, number, seriesId, seriesTitle, year }: Candidate) => ({
    ...{ id, title, number, seriesId, seriesTitle, year },
  })
  const others = candidates.map(plain)
  if (!best || isContradicted(best)) return { match: 'missing', book: null, others }
  const isClear = !second || scoreOf(best) > scoreOf(second)
  const fits = best.hasVolume || (best.hasVolume === null && (best.yearsApart ?? 0) <= 1)
  const isExact = best.isSame || (best.isTitle && best.isSameNumber && fits && isClear)
  return { match: isExact ? 'exact' : 'alternative', book: plain(best), others: others.slice(1) }
}

/** A different volume and a different time: another book of the same name. */
const isContradicted = ({ isSame, hasVolume, yearsApart }: Candidate) =>
  !isSame && hasVolume === false && (yearsApart ?? 2) > 1

function scoreOf({ isSame, isTitle, isSameNumber, hasVolume, yearsApart }: Candidate): number {
  if (isSame) return 100
  const volume = hasVolume === null ? 0 : hasVolume ? 4 : -4
  const year = yearsApart === null ? 0 : yearsApart === 0 ? 3 : yearsApart === 1 ? 1 : -3
  return volume + year + (isTitle ? 8 : 0) + (isSameNumber ? 1 : 0)
}

const annual = /\bannual\b/i
const yearAtEnd = /\s*\((\d{4})\)\s*$/
// Only the first of a run: trying at each space would take quadratic time for a long run.
const volumeAtEnd = /(?<![\s,])[\s,]+(?:vol(?:ume)?\.?|v)\s*(\d{1,4})\s*$/i

/** The names under which an entry may be found, and what it states about the book. */
function wantedOf({ series, number, volume, year, format, ...ids }: CblEntry, place: number) {
  const bare = series.replace(yearAtEnd, '').replace(volumeAtEnd, '')
  const stated = yearAtEnd.exec(series)?.[1] ?? volumeAtEnd.exec(series)?.[1]
  const isAnnual = annual.test(`${series} ${number} ${format ?? ''}`)
  const base = bare.replace(annual, '').replace(/\s+/g, ' ').trim()
  const names = isAnnual ? [base, `${base} Annual`] : [bare]
  const plainNumber = number.replace(annual, '').replace('#', '').trim()
  return {
    ...{ place, year, isAnnual, bookId: ids.bookId, comicVineId: ids.comicVineId },
    names: [...new Set([series, ...names])].filter(name => name !== ''),
    volume: volume ?? (stated === undefined ? null : Number(stated)),
    numberSort: sortNumber(plainNumber),
    numberText: searchKey(stripLeadingZeros(plainNumber)),
  }
}

async function findCandidates(sql: Sql, viewer: Viewer, entries: readonly CblEntry[]) {
  const wanted = entries.map(wantedOf)
  const isVisible = isUnrestricted(viewer) ? sql`true` : visibleBook(sql, viewer)
  const candidates = await unprepared(sql<(Candidate & { rank: number })[]>`
    with entry as materialized (
      select * from jsonb_to_recordset(${sql.json(wanted)}) as e(place integer, names text[],
        "numberSort" double precision, "numberText" text, "isAnnual" boolean, volume integer,
        year integer, "bookId" uuid, "comicVineId" text)
    ), named as materialized (
      select distinct n.name, series_name_key(folded(n.name)) as key
      from entry e cross join unnest(e.names) as n(name)
    ), found as materialized (
      select n.name, s.id, true as is_title from named n join series s
        on series_name_key(s.search_key) = n.key
      where s.book_count > 0 and ${visibleSeries(sql, viewer)}
      union all
      select n.name, s.id, false from series s
      cross join jsonb_array_elements(s.alternate_titles) a
      join named n on n.key = series_name_key(folded(a->>'title'))
      where s.alternate_titles <> '[]' and s.book_count > 0 and ${visibleSeries(sql, viewer)}
    ), hit as (
      select e.place, b.id, true as is_same, true as is_title
      from entry e join book b on b.id = e."bookId"
      union all
      select e.place, x.book_id, true, true
      from entry e join external_reference x
        on x.source = 'comicvine' and x.external_id = e."comicVineId" and x.kind = 'id'
      where x.book_id is not null
      union all
      select e.place, b.id, false, f.is_title
      from entry e cross join unnest(e.names) as n(name)
      join found f on f.name = n.name
      join book b on b.series_id = f.id and b.number_sort = e."numberSort"
      union all
      -- The only book of a series needs no number.
      select e.place, b.id, false, f.is_title
      from entry e cross join unnest(e.names) as n(name)
      join found f on f.name = n.name
      join series s on s.id = f.id and s.book_count = 1
      join book b on b.series_id = f.id and (b.number_sort is null or e."numberSort" is null)
    ), distinct_hit as (
      select place, id, bool_or(is_same) as is_same, bool_or(is_title) as is_title
      from hit group by place, id
    ), checked as (
      select e.place, b.id, b.title, b.number, b.series_id as "seriesId", s.title as "seriesTitle",
        b.year, h.is_same as "isSame", h.is_title as "isTitle",
        e."numberText" = '' or b.number is null or plain.number = e."numberText"
          or plain.number ~ '^[0-9.½]*$' and e."numberText" ~ '^[0-9.½]*$' as "isSameNumber",
        case when e.volume is null
            or num_nonnulls(s.year, b.volume, substring(s.name from '\\((\\d{4})')) = 0 then null
          else coalesce(e.volume = s.year, false) or coalesce(e.volume = b.volume, false)
            or coalesce(e.volume::text = substring(s.name from '\\((\\d{4})'), false)
          end as "hasVolume",
        abs(e.year - b.year) as "yearsApart"
      from distinct_hit h
      join entry e on e.place = h.place
      join book b on b.id = h.id
      join series s on s.id = b.series_id
      cross join lateral (
        select regexp_replace(folded(b.number), '\\yannual\\y|[#\\s]', '', 'g') as number) plain
      where ${presentBook(sql)} and ${isVisible}
        and (h.is_same or e."isAnnual" = (s.search_key ~ '\\yannual\\y'
          or folded(concat_ws(' ', b.number, b.embedded_series, b.title)) ~ '\\yannual\\y'))
    )
    select * from (
      select c.*, row_number() over (
        partition by place
        order by "isSame" desc, "isTitle" desc, "hasVolume" desc nulls last,
          "yearsApart" nulls last, id) as rank
      from checked c) c
    where rank <= ${maxCandidates}
    order by place, rank`)
  return candidates.toSorted((a, b) => a.place - b.place || scoreOf(b) - scoreOf(a))
}
