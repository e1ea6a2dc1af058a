// Reset of series metadata to the values from files: deletes what users and sources set. Their covers and the
// series' sharing tags remain.

import { pathText } from '../../base/path.ts'
import { seriesFields, seriesJsonFields } from '../../media/metadata/series-fields.ts'
import { sortKey } from '../../media/name/natural.ts'
import { searchKey } from '../../media/name/text.ts'
import type { Config } from '../../media/strategy/config.ts'
import type { Placement } from '../../media/strategy/placement.ts'
import { placeBook } from '../../media/strategy/series.ts'
import { compileRules, type TitleRule } from '../../media/strategy/title-rules.ts'
import type { Transaction } from '../../store/postgres/db.ts'
import { readingOrder } from '../derived/reading-order.ts'
import { refreshEdited } from '../derived/refresh.ts'
import { publishChanges } from './change-events.ts'
import { type ColumnTypes, editedColumns, type RowValues, updateRows } from './columns.ts'
import { deleteAllExternalReferences } from './external-reference.ts'
import type { SeriesForUpdate } from './series-metadata.ts'
import { statedTitle, titleByRules } from './series-title.ts'
import { votesOfBooks } from './votes.ts'

/** What the values from files are computed from. */
type Sources = {
  id: string
  /** The row of the series. */
  current: Record<string, unknown>
  name: string
  strategy: string
  config: Config
  titleRules: TitleRule[]
  /** The majority values of the present books, by column. */
  majority: Record<string, unknown>
  /** The title that most books state. */
  statedTitle: string | null
  /** The first present book. */
  bookId: string | null
  folder: Uint8Array | null
  file: Uint8Array | null
  embeddedSeries: string | null
}

/**
 * Returns the ids of books to read again, one for each series with a present book: files beside it may state
 * values that a user had replaced.
 */
export async function resetSeriesMetadata(
  tx: Transaction,
  series: readonly SeriesForUpdate[],
): Promise<string[]> {
  const ids = series.map(({ id }) => id)
  const sources = new Map((await loadSources(tx, ids)).map(row => [row.id, row]))
  const rows = series.map(one => resetRow(one, sources.get(one.id)!))
  const fieldTypes = Object.values(seriesFields).map(({ column, sqlType }) => [column, sqlType])
  const columns = { ...editedColumns, ...(Object.fromEntries(fieldTypes) as ColumnTypes) }
  const changed = await updateRows(tx, 'series', { columns, rows })
  // Ids stated only by files are the same after the files are read again.
  const identified = series.filter(({ provenance }) => provenance.external_ids !== undefined)
  const identifiedIds = identified.map(({ id }) => id)
  await deleteAllExternalReferences(tx, { kind: 'series', ids }, ['link', 'rating'])
  await deleteAllExternalReferences(tx, { kind: 'series', ids: identifiedIds }, ['id'])
  // Unlocked labels follow the books again, which the changed columns do not show.
  const columnsChanged = new Set([...[...changed.values()].flat(), 'genres', 'tags'])
  await refreshEdited(tx, { seriesIds: ids, columns: [...columnsChanged] })
  await publishChanges(tx, series, () => ['metadata_reset'])
  return [...sources.values()].flatMap(({ bookId }) => bookId ?? [])
}

function resetRow(series: SeriesForUpdate, sources: Sources): RowValues {
  const isNamedByFile = series.provenance.title === 'series_json'
  const title = isNamedByFile
    ? String(sources.current.title)
    : (sources.statedTitle ?? titleByRules(compileRules(sources.titleRules), sources.name))
  return {
    ...fileValues(series, sources),
    id: series.id,
    title,
    sort_key: sortKey(title),
    search_key: searchKey(title),
    locks: series.locks.filter(name => name === 'cover'),
    provenance: {
      ...Object.fromEntries(
        Object.entries(series.provenance).filter(([, source]) => source === 'series_json'),
      ),
      ...(isNamedByFile || sources.statedTitle === null ? {} : { title: 'embedded' }),
    },
  }
}

/** Values by column; values stated by series.json stay. */
function fileValues({ provenance }: SeriesForUpdate, sources: Sources) {
  const placement = placementOf(sources)
  const { publisher, year } = placement ?? {}
  const defaults: Record<string, unknown> = { publisher, year }
  const stated = new Set<string>(
    seriesJsonFields
      .map(field => field.column)
      .filter(column => provenance[column] === 'series_json'),
  )
  return Object.fromEntries(
    Object.values(seriesFields).map(({ column, empty }) => [
      column,
      stated.has(column)
        ? sources.current[column]
        : (sources.majority[column] ?? defaults[column] ?? empty),
    ]),
  )
}

async function loadSources(tx: Transaction, ids: string[]): Promise<readonly Sources[]> {
  return await tx<Sources[]>`
    select s.id, to_jsonb(s) as current, s.name, l.series_strategy as strategy, l.series_config as config,
      l.title_preprocessing_rules as "titleRules", to_jsonb(m) as majority,
      ${statedTitle(tx)} as "statedTitle", f.id as "bookId", f.folder, f.name as file, f.embedded_series as "embeddedSeries"
    from series s
    join library l on l.id = s.library_id
    cross join ${votesOfBooks(tx)} m
    left join lateral (
      select b.id, d.path as folder, b.name, b.embedded_series
      from book b join directory d on d.id = b.directory_id
      where b.series_id = s.id and b.missing_at is null
      order by ${readingOrder(tx, 'b')} limit 1) f on true
    where s.id = any(${ids}::uuid[])`
}

/** Placement of the first book, which may contain a year and a publisher. */
function placementOf(sources: Sources): Placement | null {
  const { strategy, config, folder, file, embeddedSeries } = sources
  if (folder === null || file === null) return null
  const path = [folder, file]
    .map(pathText)
    .filter(part => part !== '')
    .join('/')
  return placeBook(strategy, config, path, { series: embeddedSeries })
}
