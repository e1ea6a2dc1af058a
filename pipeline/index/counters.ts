// Moves the counters of series and libraries by what a transaction changed. Rows are locked in the
// order of their ids, so that two batches never wait for each other.
import type { TransactionSql } from 'postgres'

/** What one book contributes, before or after a change. */
export type Share = {
  libraryId: string
  seriesId: string
  missing: boolean
  pageCount: number
  size: number
}

type Delta = { books: number; missing: number; pages: number; size: number }

export type Counting = { series: Map<string, Delta>; libraries: Map<string, Delta> }

export function counting(): Counting {
  return { series: new Map(), libraries: new Map() }
}

/** Adds (`sign` 1) or takes away (`sign` -1) a book's share. A missing book counts only as missing. */
export function count(into: Counting, share: Share, sign: 1 | -1) {
  for (const [map, key] of [
    [into.series, share.seriesId],
    [into.libraries, share.libraryId],
  ] as const) {
    const delta = map.get(key) ?? { books: 0, missing: 0, pages: 0, size: 0 }
    if (share.missing) delta.missing += sign
    else {
      delta.books += sign
      delta.pages += sign * share.pageCount
      delta.size += sign * share.size
    }
    map.set(key, delta)
  }
}

/** Two statements: the series, then their libraries with the number of series that hold books. */
export async function applyCounting(tx: TransactionSql, counted: Counting) {
  const rows = [...counted.series]
    .filter(([, d]) => d.books || d.missing || d.pages || d.size)
    .map(([id, d]) => ({ id, ...d }))
  const shown = new Map<string, number>()
  if (rows.length > 0) {
    const moved = await tx<{ library_id: string; now: number; by: number }[]>`
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
      returning s.library_id, s.book_count as now, d.books as by`
    for (const row of moved) {
      const change = Number(row.now > 0) - Number(row.now - row.by > 0)
      shown.set(row.library_id, (shown.get(row.library_id) ?? 0) + change)
    }
  }
  const libraries = [...counted.libraries]
    .map(([id, d]) => ({ id, ...d, series: shown.get(id) ?? 0 }))
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
