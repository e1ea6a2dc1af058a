// Deletion of a genre or tag from all series and books, and of unused genres and tags.
import { NotFound } from '../../base/errors.ts'
import { bookEvents, publish, seriesEvents } from '../../store/event/publish.ts'
import type { Sql, Transaction } from '../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../store/postgres/retry-on-deadlock.ts'
import { refreshEdited } from '../derived/refresh.ts'
import { lockSeries } from '../row-locks.ts'
import type { LabelKind } from './label.ts'

type LabelRef = { id: string; kind: LabelKind }

// Series per transaction.
const batch = 500
// A label reassigned while it is being deleted is removed again, but not indefinitely.
const maxRounds = 5

/**
 * Removes a genre or tag from all series and books, in batches of series, then deletes it. The genres or
 * tags of affected books are locked, so that no scan restores it. Throws NotFound.
 */
export async function deleteLabel(sql: Sql, kind: LabelKind, id: string): Promise<void> {
  const [label] = await sql`select 1 from label where id = ${id} and kind = ${kind}`
  if (!label) throw new NotFound(kind === 'genre' ? 'Genre not found' : 'Tag not found')
  for (let round = 1; round <= maxRounds; round++) {
    await removeFromAll(sql, { id, kind })
    if (await deleteRow(sql, id, round === maxRounds)) return
  }
}

/**
 * Returns false when a series has acquired the label again. Waits for transactions that are assigning it: they
 * hold a share lock on its row until they commit (see registerLabels).
 */
async function deleteRow(sql: Sql, id: string, force: boolean): Promise<boolean> {
  return await retryOnDeadlock(sql, async tx => {
    await tx`select 1 from label where id = ${id} for update`
    const [used] = await tx`select 1 from series_label where label_id = ${id} limit 1`
    if (used && !force) return false
    await tx`delete from label where id = ${id}`
    return true
  })
}

async function removeFromAll(sql: Sql, label: LabelRef) {
  let after = '00000000-0000-0000-0000-000000000000'
  while (true) {
    const rows = await sql<{ id: string }[]>`
      select series_id as id from series_label
      where label_id = ${label.id} and series_id > ${after} order by series_id limit ${batch}`
    if (rows.length === 0) break
    after = rows.at(-1)!.id
    const seriesIds = rows.map(row => row.id)
    await retryOnDeadlock(sql, tx => removeFromSeries(tx, label, seriesIds))
  }
}

async function removeFromSeries(tx: Transaction, { id, kind }: LabelRef, seriesIds: string[]) {
  const name = `${kind}s`
  const column = tx(name)
  const withoutLabel = tx`
    ${column} = array(
      select name from unnest(x.${column}) with ordinality as u(name, place)
      where not name = any(l.spellings) order by place),
    updated_at = now()`
  await lockSeries(tx, seriesIds)
  const books = await tx<{ id: string; libraryId: string; seriesId: string }[]>`
    with locked as (
      select x.id, l.spellings
      from book x, label l
      where l.id = ${id} and x.series_id = any(${seriesIds}) and x.${column} && l.spellings
      order by x.id
      for no key update of x
    )
    update book x
    set ${withoutLabel}, provenance = x.provenance || jsonb_build_object(${name}::text, 'user'),
      locks = array(select distinct unnest(x.locks || ${name}::text) order by 1)
    from locked l
    where x.id = l.id
    returning x.id, x.library_id as "libraryId", x.series_id as "seriesId"`
  const series = await tx<{ id: string; libraryId: string }[]>`
    update series x
    set ${withoutLabel}
    from label l
    where l.id = ${id} and x.id = any(${seriesIds}) and x.${column} && l.spellings
    returning x.id, x.library_id as "libraryId"`
  const bookIds = books.map(book => book.id)
  await refreshEdited(tx, { seriesIds, bookIds, columns: [name] })
  const fields = [name]
  await publish(tx, [
    ...seriesEvents('series_updated', series, { fields }),
    ...bookEvents('book_updated', books, { fields }),
  ])
}

/** Deletes the genres or tags that no series or book has. Returns their names, sorted. */
export async function deleteUnusedLabels(sql: Sql, kind: LabelKind): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    with unused as (
      select id from label l
      where kind = ${kind} and not exists (select from series_label y where y.label_id = l.id)
      order by key
      for update
    )
    delete from label l using unused u
    where l.id = u.id
    returning name`
  return rows.map(row => row.name).sort()
}
