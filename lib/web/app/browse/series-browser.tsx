// Series browser: windowed grid or list with sort order, filters, letters and selection, all stored in the address.
import { useMemo, useRef } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { cardShape, lineShape } from '../lists/grid-layout.ts'
import { useListEvents } from '../lists/list-events.ts'
import { listMode } from '../lists/mode-switch.tsx'
import { usePagedList } from '../lists/paged-list.ts'
import { createSelection } from '../lists/selection.ts'
import { SelectionBar } from '../lists/selection-bar.tsx'
import { SeriesCard } from '../lists/series-card.tsx'
import { type GridHandle, VirtualGrid } from '../lists/virtual-grid.tsx'
import { address } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { AlphabetRail, useAlphabet } from './alphabet.tsx'
import { FilterChips } from './filters/filter-chips.tsx'
import { conditionOf } from './filters/filter-condition.ts'
import { countFilters, filtersOf, noFilters } from './filters/filter-fields.ts'
import { openFilters, type SeriesSort, seriesSortOf } from './filters/series-address.ts'
import { NoSeries } from './no-series.tsx'
import { SeriesToolbar } from './series-toolbar.tsx'

type SeriesBrowserProps = {
  /** Null for all libraries. */
  libraryId: string | null
  label: string
}

export function SeriesBrowser({ libraryId, label }: SeriesBrowserProps) {
  const { query } = address.value
  const filters = filtersOf(query)
  const condition = conditionOf(filters, libraryId)
  const sort = seriesSortOf(query)
  const filter = { condition, ...(filters.text && { fullTextSearch: filters.text }) }
  const filterKey = JSON.stringify(filter)
  const list = usePagedList(`series ${sort} ${filterKey}`, (page, signal) =>
    body(
      api.POST('/api/v1/series/list', {
        params: { query: { ...page, sort } },
        body: filter,
        signal,
      }),
    ),
  )
  useListEvents(list, libraryId)
  const selection = useMemo(createSelection, [filterKey])
  const grid = useRef<GridHandle>(null)
  const alphabet = useAlphabet(filter, filterKey, alphabetOrder(sort, filters.text))
  const jump = (index: number) => grid.current?.scrollTo(index)
  const isLine = listMode.value === 'lines'
  const total = list.total.value
  return (
    <div class={`browse-series${alphabet.length > 0 ? ' with-letters' : ''}`}>
      {(total !== 0 || countFilters(filters) > 0) && (
        <SeriesToolbar
          total={total}
          filters={filters}
          sort={sort}
          libraryId={libraryId}
          alphabet={alphabet}
          onJump={jump}
        />
      )}
      <FilterChips filters={filters} />
      {list.error.value && total === null ? (
        <ErrorState error={list.error.value} onRetry={() => list.reload()} />
      ) : total === 0 ? (
        countFilters(filters) > 0 ? (
          <EmptyState
            icon="filter"
            title={t('browse.noMatches')}
            text={t('browse.noMatchesText')}
            action={<Button text={t('filter.clear')} onClick={() => openFilters(noFilters)} />}
          />
        ) : (
          <NoSeries libraryId={libraryId} />
        )
      ) : (
        <div class="browse-window">
          <VirtualGrid<Awaited<ReturnType<typeof list.loaded>>[number]>
            list={list}
            label={label}
            shape={isLine ? lineShape : cardShape}
            handle={grid}
            dependency={`${isLine} ${filterKey}`}
            renderItem={(series, tabIndex) => (
              <SeriesCard
                series={series}
                tabIndex={tabIndex}
                selection={selection}
                isLine={isLine}
              />
            )}
          />
          <AlphabetRail alphabet={alphabet} onJump={jump} />
        </div>
      )}
      <SelectionBar kind="series" selection={selection} list={list} onDone={() => list.reload()} />
    </div>
  )
}

/** Only lists sorted by title have letters. */
const alphabetOrder = (sort: SeriesSort, text: string) =>
  sort === 'title,asc' ? 'ascending' : sort === 'title,desc' ? 'descending' : text ? null : null
