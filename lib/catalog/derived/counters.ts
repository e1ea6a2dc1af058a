// Counters of series and libraries (books, missing books, pages, bytes), updated by the differences a
// transaction makes. Rows are locked in id order, so that two batches do not deadlock.
import type { Transaction } from '../../store/postgres/db.ts'

/** Contribution of one book to the counters, before or after a change. */
export type Share = {
  libraryId: string
  seriesId: string
  isMissing: boolean
  pageCount: number
  size: number
}

type Delta = { books: number; missing: number; pages: number; size: number }

export type CounterDeltas = { series: Map<string, Delta>; libraries: Map<string, Delta> }

export function createCounterDeltas(): CounterDeltas {
  return { series: new Map(), libraries: new Map() }
}

/** Adds (`sign` 1) or subtracts (`sign` -1) the share of a book. A missing book counts only as missing. */
export function addShare(deltas: CounterDeltas, share: Share, sign: 1 | -1) {
  for (const [map, key] of [
    [deltas.series, share.seriesId],
    [deltas.libraries, share.libraryId],
  ] as const) {
    const delta = map.get(key) ?? { books: 0, missing: 0, pages: 0, size: 0 }
    if (share.isMissing) delta.missing += sign
    else {
      delta.books += sign
      delta.pages += sign * share.pageCount
      delta.size += sign * share.size
    }
    map.set(key, delta)
  }
}

/** One statement for the series, then one per library, with the number of its series that contain books. */
export async function applyCounterDeltas(tx: Transaction, deltas: CounterDeltas) {
  const rows = [...deltas.series]
    .filter(([, d]) => d.books || d.missing || d.pages || d.size)
    .map(([id, d]) => ({ id, ...d }))
  const listedSeries = new Map<string, number>()
  if (rows.length > 0) {
    const updated = await tx<{ libraryId: string; bookCount: number; change: number }[]>`
      with delta as (
        select *
        from jsonb_to_recordset(${tx.json(rows)})
          as d(id uuid, books integer, missing integer, pages bigint, size bigint)
      ), locked as (
        select id from series where id in (select id from delta) order by id for no key update
      )
      update series s
      set book_count = s.book_count + d.books,
        missing_count = s.missing_count + d.missing,
        page_count = s.page_count + d.pages,
        size = s.size + d.size,
        updated_at = now()
      from delta d
      join locked using (id)
      where s.id = d.id
      returning s.library_id as "libraryId", s.book_count as "bookCount", d.books as change`
    for (const row of updated) {
      const change = Number(row.bookCount > 0) - Number(row.bookCount - row.change > 0)
      listedSeries.set(row.libraryId, (listedSeries.get(row.libraryId) ?? 0) + change)
    }
  }
  const libraries = [...deltas.libraries]
    .map(([id, d]) => ({ id, ...d, series: listedSeries.get(id) ?? 0 }))
    .filter(d => d.books || d.missing || d.pages || d.size || d.series)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  for (const d of libraries) {
    await tx`
      update library
      set book_count = book_count + ${d.books},
        missing_count = missing_count + ${d.missing},
        page_count = page_count + ${d.pages},
        size = size + ${d.size},
        series_count = series_count + ${d.series},
        updated_at = now()
      where id = ${d.id}`
  }
}
