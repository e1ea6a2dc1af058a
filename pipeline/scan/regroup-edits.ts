// Edits of the series of regrouped books: fields set by users or sources, or locked, go to the series that
// the books move to, unless set there. Among several source series, the one with the most books wins, and the
// highest age rating.
import { editedColumns, type RowValues, updateRows } from '../../lib/catalog/metadata/columns.ts'
import type { SqlType } from '../../lib/media/metadata/field.ts'
import { seriesFields } from '../../lib/media/metadata/series-fields.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import { searchKey } from '../../lib/media/name/text.ts'
import type { Transaction } from '../../lib/store/postgres/db.ts'

type SeriesRow = RowValues & { locks: string[]; provenance: Record<string, string> }
type Move = { to: SeriesRow; from: SeriesRow; isEmptied: boolean }

const columns: Record<string, SqlType> = {
  ...Object.fromEntries(
    Object.values(seriesFields).map(({ column, sqlType }) => [column, sqlType as SqlType]),
  ),
  ...{ genres: 'text[]', tags: 'text[]' },
}
/** What applies to each part of a series; other fields describe the whole. */
const sharedColumns = [
  'publisher',
  'imprint',
  'status',
  'age_rating',
  'language',
  'reading_direction',
  'genres',
  'tags',
]
const ofFiles: readonly (string | undefined)[] = [undefined, 'embedded', 'series_json']

export async function keepEdits(tx: Transaction): Promise<void> {
  const moves = await tx<Move[]>`
    select to_jsonb(t) as to, to_jsonb(s) as from, r.is_emptied as "isEmptied"
    from regrouped r join series s on s.id = r.from_id join series t on t.id = r.to_id
    where s.locks <> '{}' or exists (
      select from jsonb_each_text(s.provenance) where value not in ('embedded', 'series_json'))
    order by t.id, r.books desc, s.id`
  const targets = new Map<string, SeriesRow>()
  for (const { to, from, isEmptied } of moves) {
    const target = targets.get(to.id) ?? to
    targets.set(to.id, withEdits(target, from, isEmptied ? Object.keys(columns) : sharedColumns))
  }
  await updateRows(tx, 'series', {
    columns: { ...editedColumns, ...columns },
    rows: [...targets.values()].map(sorted),
  })
}

function withEdits(target: SeriesRow, source: SeriesRow, names: readonly string[]): SeriesRow {
  const values: Record<string, unknown> = {}
  const locks = new Set(target.locks)
  const provenance = { ...target.provenance }
  for (const name of names) {
    const isHigher = name === 'age_rating' && isStricter(source, target)
    if (!isEdited(source, name) || (isEdited(target, name) && !isHigher)) continue
    values[name] = source[name]
    if (source.locks.includes(name)) locks.add(name)
    delete provenance[name]
    const origin = source.provenance[name]
    if (origin !== undefined) provenance[name] = origin
  }
  return { ...target, ...values, locks: [...locks], provenance }
}

/** A merged series must not show accounts with an age limit what was hidden from them. */
const isStricter = (source: SeriesRow, target: SeriesRow) =>
  Number(source.age_rating ?? 0) > Number(target.age_rating ?? 0)

const isEdited = ({ locks, provenance }: SeriesRow, name: string) =>
  locks.includes(name) || !ofFiles.includes(provenance[name])

function sorted(row: SeriesRow): RowValues {
  const title = String(row.title)
  const titleSort = row.title_sort as string | null
  const values = [...Object.keys(columns), 'locks', 'provenance'].map(name => [name, row[name]])
  const keys = { sort_key: sortKey(titleSort ?? title), search_key: searchKey(title) }
  return { ...Object.fromEntries(values), ...keys, id: row.id }
}
