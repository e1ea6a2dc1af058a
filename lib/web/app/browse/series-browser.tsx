// Series browser: windowed grid or list with sort order, filters, letters and selection, all stored in the address.
import { useMemo, useRef } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { SeriesCard } from '../lists/card.tsx'
import { cardShape, lineShape } from '../lists/grid-layout.ts'
import { useListEvents } from '../lists/list-events.ts'
import { listMode, ModeSwitch } from '../lists/mode-switch.tsx'
import { usePagedList } from '../lists/paged-list.ts'
import { createSelection, SelectionBar } from '../lists/selection-bar.tsx'
import { type GridHandle, VirtualGrid } from '../lists/virtual-grid.tsx'
import { address, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { openDialog } from '../ui/dialog-host.tsx'
import { BareSelect } from '../ui/field.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { AlphabetMenu, AlphabetRail, type Letter, useAlphabet } from './alphabet.tsx'
import { FilterChips, openFilters } from './filters/filter-chips.tsx'
import { conditionOf } from './filters/filter-condition.ts'
import {
  countFilters,
  type Filters,
  filtersOf,
  noFilters,
  partsOfSort,
  type SeriesSort,
  type SortField,
  seriesSortOf,
  sortFields,
  sortTexts,
  usualOrder,
} from './filters/filter-fields.ts'
import { NoSeries } from './library-notices.tsx'

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
  const list = usePagedList(`series ${sort} ${filterKey}`, (page, signal) => {
    const params = { query: { ...page, sort } }
    return body(api.POST('/api/v1/series/list', { params, body: filter, signal }))
  })
  useListEvents(list, libraryId)
  const selection = useMemo(createSelection, [filterKey])
  const grid = useRef<GridHandle>(null)
  const alphabet = useAlphabet(filter, filterKey, alphabetOrder(sort))
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
const alphabetOrder = (sort: SeriesSort) =>
  sort === 'title,asc' ? 'ascending' : sort === 'title,desc' ? 'descending' : null

type ToolbarProps = {
  total: number | null
  filters: Filters
  sort: SeriesSort
  libraryId: string | null
  alphabet: readonly Letter[]
  onJump: (index: number) => void
}

/** Count, letters, filters, sort order, cards or lines. */
function SeriesToolbar({ total, filters, sort, libraryId, alphabet, onJump }: ToolbarProps) {
  const count = countFilters(filters)
  const openFilterDialog = () =>
    openDialog(async () => (await import('./filters/filter-dialog.tsx')).FilterDialog, {
      filters,
      sort,
      libraryId,
    })
  return (
    <div class="row browse-toolbar">
      <span class="browse-count" role="status">
        {total === null ? '' : t('count.series', { count: total })}
      </span>
      <AlphabetMenu alphabet={alphabet} onJump={onJump} />
      <Button icon="filter" onClick={openFilterDialog} class={count > 0 ? 'active' : ''}>
        {t('filter.title')}
        {count > 0 && <span class="badge accent">{String(count)}</span>}
      </Button>
      <SortChoice sort={sort} />
      <ModeSwitch />
    </div>
  )
}

function SortChoice({ sort }: { sort: SeriesSort }) {
  const [field, order] = partsOfSort(sort)
  const store = (next: string) => setQuery({ sort: next === 'title,asc' ? null : next })
  return (
    <div class="browse-sort">
      <BareSelect<SortField>
        class="control"
        aria-label={t('sort.label')}
        value={field}
        options={sortFields.map(value => ({ value, text: t(sortTexts[value]) }))}
        onChange={next => store(`${next},${usualOrder(next)}`)}
      />
      <IconButton
        class={order === 'desc' ? 'browse-descending' : ''}
        isFramed
        icon="sort"
        label={t(order === 'asc' ? 'sort.ascending' : 'sort.descending')}
        onClick={() => store(`${field},${order === 'asc' ? 'desc' : 'asc'}`)}
      />
    </div>
  )
}
