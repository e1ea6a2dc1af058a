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

/** Part of a series is placed where the whole was; sharing tags must not reveal it. */
export async function keepPlaces(tx: Transaction): Promise<void> {
  await tx`
    insert into collection_series (collection_id, series_id, position, added_at)
    select distinct on (m.collection_id, r.to_id) m.collection_id, r.to_id, m.position, m.added_at
    from regrouped r join collection_series m on m.series_id = r.from_id
    order by m.collection_id, r.to_id, m.position
    on conflict do nothing`
  // Each member has its own position.
  await tx`
    update collection_series m set position = n.place
    from (
      select collection_id, series_id, row_number() over (
          partition by collection_id order by position, added_at, series_id) as place
      from collection_series where collection_id in (
        select c.collection_id from collection_series c join regrouped r on r.to_id = c.series_id)) n
    where m.collection_id = n.collection_id and m.series_id = n.series_id and m.position <> n.place`
  await tx`
    insert into want_to_read (id, account_id, series_id, position, added_at)
    select gen_random_uuid(), account_id, to_id, position, added_at
    from (
      select distinct on (w.account_id, r.to_id) w.account_id, r.to_id, w.position, w.added_at
      from regrouped r join want_to_read w on w.series_id = r.from_id
      order by w.account_id, r.to_id, w.position) w
    on conflict do nothing`
  await tx`
    insert into user_rating (id, account_id, series_id, rating, notes, created_at, updated_at)
    select gen_random_uuid(), account_id, to_id, rating, notes, created_at, updated_at
    from (
      select distinct on (u.account_id, r.to_id) u.*, r.to_id
      from regrouped r join user_rating u on u.series_id = r.from_id
      order by u.account_id, r.to_id, r.books desc, u.id) u
    on conflict do nothing`
  await tx`
    insert into series_sharing_tag (series_id, tag_id)
    select distinct r.to_id, t.tag_id
    from regrouped r join series_sharing_tag t on t.series_id = r.from_id
    order by 1, 2
    on conflict do nothing`
  // Part of a series is not the series that another service describes.
  await tx`
    insert into external_reference (kind, series_id, source, external_id, url, hash, rating, votes)
    select distinct on (r.to_id, e.kind, e.source) e.kind, r.to_id, e.source, e.external_id, e.url,
      e.hash, e.rating, e.votes
    from regrouped r join external_reference e on e.series_id = r.from_id
    where r.is_emptied
    order by r.to_id, e.kind, e.source, r.books desc, r.from_id
    on conflict do nothing`
}

/** Moves the selected cover, uploaded or from a book; called after the books have moved. */
export async function keepCovers(tx: Transaction): Promise<void> {
  await tx`
    insert into cover (id, series_id, source, hash, original, width, height, created_at)
    select distinct on (r.to_id, c.hash) gen_random_uuid(), r.to_id, c.source, c.hash, c.original,
      c.width, c.height, c.created_at
    from regrouped r join cover c on c.series_id = r.from_id
    where r.is_emptied
    order by r.to_id, c.hash
    on conflict do nothing`
  await tx`
    with chosen as (
      select distinct on (r.to_id) r.to_id, s.custom_cover, s.cover_book_id
      from regrouped r join series s on s.id = r.from_id
      left join book b on b.id = s.cover_book_id
      where s.custom_cover is not null and r.is_emptied or b.series_id = r.to_id
      order by r.to_id, s.custom_cover is null, r.books desc, r.from_id
    ), covered as (
      update series t
      set custom_cover = c.custom_cover,
        cover_book_id = case when c.custom_cover is null then c.cover_book_id end,
        locks = case when 'cover' = any(t.locks) then t.locks else t.locks || '{cover}' end
      from chosen c
      where t.id = c.to_id and t.custom_cover is null and t.cover_book_id is null
      returning t.id, t.custom_cover
    )
    update cover c set is_selected = true
    from covered t where c.series_id = t.id and c.hash = t.custom_cover`
}
