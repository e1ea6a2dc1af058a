// Genres and tags as users put them on series and books, and the list of all.
import { isDeepStrictEqual } from 'node:util'
import type { Sql, TransactionSql } from 'postgres'
import { isUnrestricted, seesBook, seesSeries, type Viewer } from '../../auth/viewer.ts'
import { Invalid, NotFound } from '../../errors.ts'
import { ofBooks, ofSeries, tell } from '../../event/publish.ts'
import { changeOf } from '../metadata/change-events.ts'
import type { Owner } from '../metadata/external-reference.ts'
import { changing } from '../metadata/metadata-change.ts'
import { claimed, holdSeries } from '../metadata/series-metadata.ts'
import { writeBookSearch, writeSeriesSearch } from '../search/search-rows.ts'
import { type LabelKind, labelKey, registerLabels, settleLabels } from './label.ts'
import { type Label, labelsOf } from './label-record.ts'

const most = 500

type Held = {
  id: string
  libraryId: string
  seriesId: string
  names: string[]
  locks: string[]
  provenance: Record<string, string>
}

/** The labels of a series or book, by name. Throws NotFound. */
export async function labelsOn(
  sql: Sql | TransactionSql,
  viewer: Viewer,
  { owner, kind }: { owner: Owner; kind: LabelKind },
): Promise<Label[]> {
  const column = sql(`${kind}s`)
  const [row] =
    owner.kind === 'series'
      ? await sql<{ names: string[] }[]>`
          select s.${column} as names from series s
          where s.id = ${owner.id} and ${seesSeries(sql, viewer)}`
      : await sql<{ names: string[] }[]>`
          select b.${column} as names from book b join series s on s.id = b.series_id
          where b.id = ${owner.id} and ${seesBook(sql, viewer)}`
  if (!row) throw new NotFound(owner.kind === 'series' ? 'Series not found' : 'Book not found')
  const named = await labelsOf(sql, [{ genres: [], tags: [], [`${kind}s`]: row.names }])
  return named(kind, row.names)
}

export type LabelChange = {
  owner: Owner
  kind: LabelKind
  /** The names that shall be, from those that are. Throws what the caller may throw. */
  names: (before: string[]) => string[]
}

/**
 * Changes the genres or tags of a series or book and locks them; a name that a label has already, in
 * whatever case, takes the spelling of the label. Tells what changed. Throws NotFound, Invalid.
 */
export async function changeLabels(
  tx: TransactionSql,
  viewer: Viewer,
  { owner, kind, names }: LabelChange,
): Promise<void> {
  const column = `${kind}s`
  const held =
    owner.kind === 'series'
      ? await holdOfSeries(tx, viewer, { id: owner.id, column })
      : await holdOfBook(tx, viewer, { id: owner.id, column })
  const wanted = names(held.names)
  if (wanted.length > most) throw new Invalid(`There may be ${most} at most`)
  const canonical = await registerLabels(tx, kind, wanted)
  const stored = [...new Set(wanted.map(name => canonical.get(name)!))]
  const { locks, provenance } = claimed(held, [column])
  await tx`
    update ${tx(owner.kind)}
    set ${tx(column)} = ${stored}, locks = ${locks}, provenance = ${tx.json(provenance)},
      updated_at = now()
    where id = ${owner.id}`
  const settled = await settleLabels(tx, [held.seriesId])
  if (owner.kind === 'book') await writeBookSearch(tx, [owner.id])
  await writeSeriesSearch(tx, [held.seriesId])
  const { libraryId } = held
  const fields = [
    ...(isDeepStrictEqual(stored, held.names) ? [] : [column]),
    ...(isDeepStrictEqual(locks, held.locks) ? [] : ['locks']),
  ].sort()
  const series = owner.kind === 'book' ? settled.map(id => ({ id, libraryId })) : []
  await tell(tx, [
    ...changeOf(owner.kind === 'book' ? held : { id: owner.id, libraryId }, fields),
    ...ofSeries('series_updated', series, { fields: [column] }),
  ])
}

type Wanted = { id: string; column: string }

async function holdOfSeries(tx: TransactionSql, viewer: Viewer, { id, column }: Wanted) {
  const series = await holdSeries(tx, viewer, id)
  return { ...series, seriesId: id, names: series[column as 'genres' | 'tags'] } as Held
}

// The series with it, before any label: in the order in which a scan takes them.
async function holdOfBook(tx: TransactionSql, viewer: Viewer, { id, column }: Wanted) {
  const [book] = await tx<Held[]>`
    select b.id, b.library_id as "libraryId", b.series_id as "seriesId", b.${tx(column)} as names, b.locks, b.provenance
    from book b join series s on s.id = b.series_id
    where b.id = ${id} and ${seesBook(tx, viewer)}
    for no key update of b, s`
  if (!book) throw new NotFound('Book not found')
  return book
}

/** Names as they may be stored: single spaces, no blanks, each once however it is written. Throws Invalid. */
export function labelNames(names: readonly string[]): string[] {
  const byKey = new Map<string, string>()
  for (const name of names) {
    const plain = name.trim().replace(/\s+/g, ' ')
    const key = labelKey(plain)
    if (key === '') throw new Invalid('A name must not be empty')
    if (!byKey.has(key)) byKey.set(key, plain)
  }
  return [...byKey.values()]
}

/** `names` without those that a label stands for. Throws NotFound when it is not among them. */
export async function withoutLabel(tx: TransactionSql, kind: LabelKind, id: string) {
  const [label] = await tx<{ key: string }[]>`
    select key from label where id = ${id} and kind = ${kind}`
  return (names: string[]): string[] => {
    const rest = names.filter(name => labelKey(name) !== label?.key)
    if (rest.length === names.length) throw new NotFound(`It does not have this ${kind}`)
    return rest
  }
}

type Listing = { kind: LabelKind; offset: number; pageSize: number }

/**
 * One page of all genres or tags by name, with how many series the viewer sees under each, and the
 * number of all. Whoever does not see everything is shown only names of what they see.
 */
export async function listLabels(sql: Sql, viewer: Viewer, { kind, offset, pageSize }: Listing) {
  const rows = await sql<((Label & { total: number }) | { id: null; total: number })[]>`
    with seen as (
      select y.label_id, count(*) as n
      from series_label y
      join label l on l.id = y.label_id and l.kind = ${kind}
      join series s on s.id = y.series_id
      where y.is_own and s.book_count > 0 and ${seesSeries(sql, viewer)}
      group by y.label_id
    ), shown as materialized (
      select l.id, l.key, l.name, coalesce(seen.n, 0) as "seriesCount", l.created_at as "createdAt"
      from label l
      left join seen on seen.label_id = l.id
      where l.kind = ${kind} and (${isUnrestricted(viewer)} or seen.n > 0)
    )
    select p.id, p.name, p."seriesCount", p."createdAt", t.total
    from (select count(*) as total from shown) t
    left join (
      select * from shown order by key collate "C", id limit ${pageSize} offset ${offset}) p on true
    order by p.key collate "C", p.id`
  const data = rows.flatMap(({ total, ...label }) => (label.id === null ? [] : [label as Label]))
  return { data, total: rows[0]!.total }
}

// Series in one transaction of a removal, and books whose search rows are written together.
const batch = 500
// What others put on series meanwhile is taken off again, but not for ever.
const mostRounds = 5

/**
 * Removes a genre or tag from all series and books, some series at a time, and then itself. The books
 * that named it are locked, so that no scan brings it back. Throws NotFound.
 */
export async function removeLabel(sql: Sql, kind: LabelKind, id: string): Promise<void> {
  const [label] = await sql`select 1 from label where id = ${id} and kind = ${kind}`
  if (!label) throw new NotFound(kind === 'genre' ? 'Genre not found' : 'Tag not found')
  for (let left = mostRounds; left > 0; left--) {
    await stripAll(sql, { id, kind })
    if (await dropLabel(sql, id, left === 1)) return
  }
}

/** False when a series has it again. Whoever put it there held the label until all was written (see registerLabels). */
async function dropLabel(sql: Sql, id: string, always: boolean): Promise<boolean> {
  return await changing(sql, async tx => {
    await tx`select 1 from label where id = ${id} for update`
    const [used] = await tx`select 1 from series_label where label_id = ${id} limit 1`
    if (used && !always) return false
    await tx`delete from label where id = ${id}`
    return true
  })
}

type Removing = { id: string; kind: LabelKind }

async function stripAll(sql: Sql, { id, kind }: Removing) {
  let after = '00000000-0000-0000-0000-000000000000'
  while (true) {
    const rows = await sql<{ id: string }[]>`
      select series_id as id from series_label
      where label_id = ${id} and series_id > ${after} order by series_id limit ${batch}`
    if (rows.length === 0) break
    after = rows.at(-1)!.id
    await changing(sql, tx =>
      strip(
        tx,
        { id, kind },
        rows.map(row => row.id),
      ),
    )
  }
}

async function strip(tx: TransactionSql, label: Removing, seriesIds: string[]) {
  const column = tx(`${label.kind}s`)
  const rest = tx`
    ${column} = array(
      select name from unnest(x.${column}) with ordinality as u(name, place)
      where not name = any(l.spellings) order by place),
    updated_at = now()`
  const books = await tx<{ id: string; libraryId: string; seriesId: string }[]>`
    update book x
    set ${rest}, provenance = x.provenance || jsonb_build_object(${`${label.kind}s`}::text, 'user'),
      locks = array(select distinct unnest(x.locks || ${`${label.kind}s`}::text) order by 1)
    from label l
    where l.id = ${label.id} and x.series_id = any(${seriesIds}) and x.${column} && l.spellings
    returning x.id, x.library_id as "libraryId", x.series_id as "seriesId"`
  const series = await tx<{ id: string; libraryId: string }[]>`
    update series x
    set ${rest}
    from label l
    where l.id = ${label.id} and x.id = any(${seriesIds}) and x.${column} && l.spellings
    returning x.id, x.library_id as "libraryId"`
  await settleLabels(tx, seriesIds)
  const ids = books.map(book => book.id)
  for (let from = 0; from < ids.length; from += batch)
    await writeBookSearch(tx, ids.slice(from, from + batch))
  await writeSeriesSearch(tx, seriesIds)
  const fields = [`${label.kind}s`]
  await tell(tx, [
    ...ofSeries('series_updated', series, { fields }),
    ...ofBooks('book_updated', books, { fields }),
  ])
}

/** Removes the genres or tags that no series and no book has; answers their names. */
export async function removeUnused(sql: Sql, kind: LabelKind): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    delete from label l
    where kind = ${kind} and not exists (select from series_label y where y.label_id = l.id)
    returning name`
  return rows.map(row => row.name).sort()
}
