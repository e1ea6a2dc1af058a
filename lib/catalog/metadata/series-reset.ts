// A series as its files describe it: what users set is dropped. Their covers stay, and so does what
// an administrator hides it by.
import type { TransactionSql } from 'postgres'
import { sortKey } from '../../name/natural.ts'
import { searchKey } from '../../name/normalise.ts'
import { pathText } from '../../path.ts'
import type { Config } from '../../strategy/config.ts'
import type { Placement } from '../../strategy/placement.ts'
import { compileRules, type TitleRule } from '../../strategy/preprocess.ts'
import { placeBook } from '../../strategy/series.ts'
import { settleLabels } from '../label/label.ts'
import { writeSeriesSearch } from '../search/search-rows.ts'
import { tellChange } from './change-events.ts'
import type { HeldSeries } from './series-metadata.ts'

type Facts = {
  name: string
  strategy: string
  config: Config
  rules: TitleRule[]
  publisher: string | null
  language: string | null
  ageRating: number | null
  readingDirection: string | null
  named: string | null
  bookId: string | null
  folder: Uint8Array | null
  file: Uint8Array | null
  seriesNamed: string | null
}

/**
 * Resets a series. Answers the book whose file should be read again, because the files beside it may
 * state what a user had put something else for; null when it has none.
 */
export async function resetSeries(tx: TransactionSql, series: HeldSeries): Promise<string | null> {
  const { id } = series
  const facts = await factsOf(tx, id)
  const place = placeOf(facts)
  const title = facts.named ?? (compileRules(facts.rules)(facts.name).trim() || facts.name)
  const stated = (column: string) => series.provenance[column] === 'series_json'
  // What series.json states is as the file says it.
  const columns = {
    ...(stated('publisher') ? {} : { publisher: facts.publisher ?? place?.publisher ?? null }),
    ...(stated('year') ? {} : { year: place?.year ?? null }),
    ...(stated('summary') ? {} : { summary: null }),
    ...(stated('status') ? {} : { status: 'ongoing' }),
    ...(stated('age_rating') ? {} : { age_rating: facts.ageRating }),
    title,
    title_sort: null,
    sort_key: sortKey(title),
    search_key: searchKey(title),
    imprint: null,
    language: facts.language,
    reading_direction: facts.readingDirection,
    total_volume_count: null,
    total_chapter_count: null,
    custom_metadata: null,
    authors: tx.json([]),
    alternate_titles: tx.json([]),
    locks: series.locks.filter(name => name === 'cover'),
    provenance: tx.json({
      ...Object.fromEntries(
        Object.entries(series.provenance).filter(([, source]) => source === 'series_json'),
      ),
      ...(facts.named === null ? {} : { title: 'embedded' }),
    }),
  }
  await tx`update series set ${tx(columns)}, updated_at = now() where id = ${id}`
  if (series.provenance.external_ids === 'user')
    await tx`delete from series_external_id where series_id = ${id}`
  await tx`delete from series_link where series_id = ${id}`
  await settleLabels(tx, [id])
  await writeSeriesSearch(tx, [id])
  await tellChange(tx, series, ['metadata_reset'])
  return facts.bookId
}

async function factsOf(tx: TransactionSql, id: string): Promise<Facts> {
  const [facts] = await tx<Facts[]>`
    select s.name, l.series_strategy as strategy, l.series_config as config,
      l.title_preprocessing_rules as rules, m.publisher, m.language, m.age_rating as "ageRating",
      m.reading_direction as "readingDirection", n.named, f.id as "bookId", f.folder,
      f.name as file, f.series_named as "seriesNamed"
    from series s
    join library l on l.id = s.library_id
    cross join lateral (
      select mode() within group (order by publisher) as publisher,
        mode() within group (order by language) as language,
        mode() within group (order by age_rating) as age_rating,
        mode() within group (order by reading_direction) as reading_direction
      from book where series_id = s.id and missing_at is null) m
    left join lateral (
      select series_named as named
      from (
        select series_named, count(*) as votes, sum(count(*)) over () as voters
        from book
        where series_id = s.id and missing_at is null and series_named is not null
        group by series_named) v
      where votes * 2 > voters) n on true
    left join lateral (
      select b.id, d.path as folder, b.name, b.series_named
      from book b join directory d on d.id = b.directory_id
      where b.series_id = s.id and b.missing_at is null
      order by b.number_sort, b.name_key, b.id limit 1) f on true
    where s.id = ${id}`
  return facts!
}

/** Where its first book puts it, which tells year and publisher. */
function placeOf({ strategy, config, folder, file, seriesNamed }: Facts): Placement | null {
  if (folder === null || file === null) return null
  const path = [folder, file]
    .map(pathText)
    .filter(part => part !== '')
    .join('/')
  return placeBook(strategy, config, path, { series: seriesNamed })
}
