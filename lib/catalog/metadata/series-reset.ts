// Reset of series metadata to the values from files: deletes what users set. Their covers and the
// sharing tags of the series remain.
import { bookMajorityFields, seriesFields, seriesJsonFields } from '../../metadata/series-fields.ts'
import { sortKey } from '../../name/natural.ts'
import { searchKey } from '../../name/text.ts'
import { pathText } from '../../path.ts'
import type { Transaction } from '../../postgres/db.ts'
import type { Config } from '../../strategy/config.ts'
import type { Placement } from '../../strategy/placement.ts'
import { placeBook } from '../../strategy/series.ts'
import { compileRules, type TitleRule } from '../../strategy/title-rules.ts'
import { refreshEdited } from '../derived/refresh.ts'
import { changedColumns, publishChange } from './change-events.ts'
import { columnValue, majorityColumns } from './columns.ts'
import { deleteAllExternalReferences } from './external-reference.ts'
import type { SeriesForUpdate } from './series-metadata.ts'
import { titleByRules } from './series-title.ts'

/** What the values from files are computed from. */
type Sources = {
  name: string
  strategy: string
  config: Config
  titleRules: TitleRule[]
  /** Most frequent values of the present books, by column. */
  majority: Record<string, unknown>
  /** The series title that most of the books with one state. */
  statedTitle: string | null
  /** The first present book. */
  bookId: string | null
  folder: Uint8Array | null
  file: Uint8Array | null
  embeddedSeries: string | null
}

/**
 * Returns the id of a book to read again, as files beside it may state values that a user had replaced;
 * null when the series has no present book.
 */
export async function resetSeriesMetadata(
  tx: Transaction,
  series: SeriesForUpdate,
): Promise<string | null> {
  const { id } = series
  const sources = await loadSources(tx, id)
  const title = sources.statedTitle ?? titleByRules(compileRules(sources.titleRules), sources.name)
  const columns = {
    ...fileValues(tx, series, sources),
    title,
    sort_key: sortKey(title),
    search_key: searchKey(title),
    locks: series.locks.filter(name => name === 'cover'),
    provenance: tx.json({
      ...Object.fromEntries(
        Object.entries(series.provenance).filter(([, source]) => source === 'series_json'),
      ),
      ...(sources.statedTitle === null ? {} : { title: 'embedded' }),
    }),
  }
  const [row] = await tx<{ changed: string[] }[]>`
    update series s set ${tx(columns)}, updated_at = now()
    from series old
    where s.id = ${id} and old.id = s.id
    returning ${changedColumns(tx, 's', 'old')} as changed`
  const owner = { kind: 'series', id } as const
  const hasUserIds = series.provenance.external_ids === 'user'
  await deleteAllExternalReferences(tx, owner, hasUserIds ? ['id', 'link'] : ['link'])
  // Unlocked labels follow the books again, which the changed columns do not show.
  await refreshEdited(tx, { seriesIds: [id], columns: [...row!.changed, 'genres', 'tags'] })
  await publishChange(tx, series, ['metadata_reset'])
  return sources.bookId
}

/** Columns and values; columns that series.json states are left out, as they have its values already. */
function fileValues(tx: Transaction, { provenance }: SeriesForUpdate, sources: Sources) {
  const placement = placementOf(sources)
  const defaults: Record<string, unknown> = {
    publisher: placement?.publisher,
    year: placement?.year,
    status: 'ongoing',
  }
  const stated = new Set<string>(
    seriesJsonFields
      .map(field => field.column)
      .filter(column => provenance[column] === 'series_json'),
  )
  const fields = Object.values(seriesFields).filter(({ column }) => !stated.has(column))
  return Object.fromEntries(
    fields.map(field => {
      const { column, empty } = field
      const value = sources.majority[column] ?? defaults[column] ?? empty
      return [column, columnValue(tx, field, value)]
    }),
  )
}

async function loadSources(tx: Transaction, id: string): Promise<Sources> {
  const [sources] = await tx<Sources[]>`
    select s.name, l.series_strategy as strategy, l.series_config as config,
      l.title_preprocessing_rules as "titleRules", to_jsonb(m) as majority,
      n."statedTitle", f.id as "bookId", f.folder, f.name as file, f.embedded_series as "embeddedSeries"
    from series s
    join library l on l.id = s.library_id
    cross join lateral (
      select ${majorityColumns(tx, bookMajorityFields)}
      from book where series_id = s.id and missing_at is null) m
    left join lateral (
      select embedded_series as "statedTitle"
      from (
        select embedded_series, count(*) as votes, sum(count(*)) over () as voters
        from book
        where series_id = s.id and missing_at is null and embedded_series is not null
        group by embedded_series) v
      where votes * 2 > voters) n on true
    left join lateral (
      select b.id, d.path as folder, b.name, b.embedded_series
      from book b join directory d on d.id = b.directory_id
      where b.series_id = s.id and b.missing_at is null
      order by b.number_sort, b.name_key, b.id limit 1) f on true
    where s.id = ${id}`
  return sources!
}

/** Placement of the first book, which may contain year and publisher. */
function placementOf(sources: Sources): Placement | null {
  const { strategy, config, folder, file, embeddedSeries } = sources
  if (folder === null || file === null) return null
  const path = [folder, file]
    .map(pathText)
    .filter(part => part !== '')
    .join('/')
  return placeBook(strategy, config, path, { series: embeddedSeries })
}
