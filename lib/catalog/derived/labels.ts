// Genres and tags of series, derived from their books: `series.genres` and `tags`, `series.book_genres` and
// `book_tags`, and the rows of series_label, which filters read.
import type { Queryable } from '../../store/postgres/db.ts'
import { type LabelKind, labelKey, labelKinds, registerLabels } from '../label/label.ts'

/**
 * Refreshes the labels of series after their own or their books' labels changed. A series' own labels are
 * its books' labels, each in one spelling, unless a user or a metadata source set them. Writes only
 * differences. Returns the series whose own labels changed.
 */
export async function refreshLabels(tx: Queryable, seriesIds: string[]): Promise<string[]> {
  const changed = new Set<string>()
  for (const kind of labelKinds)
    for (const id of await refreshKind(tx, kind, seriesIds)) changed.add(id)
  return [...changed]
}

type SeriesLabels = {
  id: string
  /** The series' own labels. */
  own: string[]
  /** Stored labels of the books. */
  stored: string[]
  /** Current labels of the books. */
  current: string[]
  /** Whether the own labels follow the books'. */
  followsBooks: boolean
}

async function refreshKind(tx: Queryable, kind: LabelKind, seriesIds: string[]): Promise<string[]> {
  const column = `${kind}s`
  const series = await tx<SeriesLabels[]>`
    select s.id, s.${tx(column)} as own, s.${tx(`book_${column}`)} as stored,
      array(
        select distinct u.label collate "C" from book b, unnest(b.${tx(column)}) as u(label)
        where b.series_id = s.id and b.missing_at is null order by 1) as current,
      not ${column} = any(s.locks) and not s.provenance ? ${column}
        as "followsBooks"
    from series s
    where s.id = any(${seriesIds}) and (s.${tx(column)} <> '{}' or s.${tx(`book_${column}`)} <> '{}'
      or exists (select from book b
        where b.series_id = s.id and b.missing_at is null and b.${tx(column)} <> '{}'))
    order by s.id
    for no key update of s`
  const names = series.flatMap(row => [...row.own, ...row.current])
  await registerLabels(tx, kind, names)
  const rows = series.map(({ id, own, stored, current, followsBooks }) => {
    return { id, own: followsBooks ? distinct(current) : own, previous: own, stored, current }
  })
  const isRelabeled = (row: (typeof rows)[number]) => !isSame(row.own, row.previous)
  const differing = rows.filter(row => isRelabeled(row) || !isSame(row.current, row.stored))
  if (differing.length > 0)
    await tx`
      update series s
      set ${tx(column)} = g.own, ${tx(`book_${column}`)} = g.current, updated_at = now()
      from jsonb_to_recordset(${tx.json(differing)}) as g(id uuid, own text[], current text[])
      where s.id = g.id`
  await writeSeriesLabels(tx, kind, { seriesIds, rows })
  return rows.filter(isRelabeled).map(row => row.id)
}

/** The first spelling of each label. */
function distinct(names: string[]): string[] {
  const byKey = new Map(names.toReversed().map(name => [labelKey(name), name]))
  return names.filter(name => byKey.get(labelKey(name)) === name && labelKey(name) !== '')
}

function isSame(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i])
}

type LabeledSeries = {
  seriesIds: string[]
  rows: Pick<SeriesLabels, 'id' | 'own' | 'current'>[]
}

/** Makes the rows of series_label equal to the names in `rows`. */
async function writeSeriesLabels(
  tx: Queryable,
  kind: LabelKind,
  { seriesIds, rows }: LabeledSeries,
) {
  const expected = rows.flatMap(({ id, own, current }) => {
    const keys = new Map<string, boolean>()
    for (const name of current) keys.set(labelKey(name), false)
    for (const name of own) keys.set(labelKey(name), true)
    return [...keys].map(([key, is_own]) => ({ series_id: id, key, is_own }))
  })
  await tx`
    with expected as materialized (
      select w.series_id, l.id as label_id, w.is_own
      from jsonb_to_recordset(${tx.json(expected)})
        as w(series_id uuid, key text, is_own boolean)
      join label l on l.kind = ${kind} and l.key = w.key
    ), deleted as (
      delete from series_label y
      where y.series_id = any(${seriesIds})
        and (select l.kind from label l where l.id = y.label_id) = ${kind}
        and not exists (select from expected w
          where w.series_id = y.series_id and w.label_id = y.label_id)
    )
    insert into series_label as y (label_id, series_id, is_own)
    select label_id, series_id, is_own from expected order by series_id, label_id
    on conflict (label_id, series_id) do update set is_own = excluded.is_own
    where y.is_own <> excluded.is_own`
}
