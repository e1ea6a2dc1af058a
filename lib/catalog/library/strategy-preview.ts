// Preview of a different series strategy for a library: which series would become which, from the catalog alone.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { validateSeriesStrategy } from '../../media/strategy/series.ts'
import { compileRules, type TitleRule } from '../../media/strategy/title-rules.ts'
import { titleByRules } from '../metadata/series-title.ts'
import { requireLibrary } from './library.ts'
import { placeStoredBooks } from './placed-books.ts'

type PreviewRequest = {
  seriesStrategy: string
  seriesConfig?: Record<string, unknown> | null | undefined
}
type Source = { title: string; bookCount: number }
type Group = { name: string; bookCount: number; from: Map<string, Source> }

// A user waits for the result.
const limits = { timeMs: 5_000, groups: 200, sources: 5 }

/** Throws NotFound; Invalid for an invalid strategy. */
export async function previewStrategy(
  sql: Sql,
  { viewer, libraryId, signal }: { viewer: Viewer; libraryId: string; signal: AbortSignal },
  { seriesStrategy, seriesConfig }: PreviewRequest,
) {
  const config = validateSeriesStrategy(seriesStrategy, seriesConfig ?? {})
  await requireLibrary(sql, viewer, libraryId)
  const [library] = await sql<{ rules: TitleRule[] }[]>`
    select title_preprocessing_rules as rules from library where id = ${libraryId}`
  if (!library) throw new NotFound('Library not found')
  const rules = compileRules(library.rules)
  const groups = new Map<string, Group>()
  const sizes = new Map<string, number>()
  const deadline = performance.now() + limits.timeMs
  let isComplete = true
  for await (const placed of placeStoredBooks(sql, {
    libraryId,
    strategy: seriesStrategy,
    config,
  })) {
    for (const { book, placement } of placed) {
      if (!book.isPresent) continue
      sizes.set(book.seriesId, (sizes.get(book.seriesId) ?? 0) + 1)
      const { key, name } = placement
      const group = groups.get(key) ?? {
        name: titleByRules(rules, name),
        bookCount: 0,
        from: new Map(),
      }
      const source = group.from.get(book.seriesId) ?? { title: book.seriesTitle, bookCount: 0 }
      source.bookCount++
      group.bookCount++
      groups.set(key, group)
      group.from.set(book.seriesId, source)
    }
    signal.throwIfAborted()
    isComplete = performance.now() < deadline
    if (!isComplete) break
  }
  const isSame = ({ from, bookCount }: Group) =>
    from.size === 1 && sizes.get([...from.keys()][0]!) === bookCount
  const changed = [...groups.values()].filter(group => !isSame(group))
  changed.sort((a, b) => b.from.size - a.from.size || (a.name < b.name ? -1 : 1))
  return {
    seriesBefore: sizes.size,
    seriesAfter: groups.size,
    unchangedSeries: groups.size - changed.length,
    changedSeries: changed.slice(0, limits.groups).map(({ name, bookCount, from }) => ({
      ...{ name, bookCount, sourceCount: from.size },
      sources: [...from.values()].slice(0, limits.sources),
    })),
    isComplete,
  }
}
