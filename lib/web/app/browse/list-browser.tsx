// Browser of series or books: windowed grid or list with sort order, filters, letters and selection, all stored in the
// address.
import { useMemo, useRef } from 'preact/hooks'
import { BookCard, SeriesCard } from '../lists/card.tsx'
import { cardShape, lineShape } from '../lists/grid-layout.ts'
import { useListEvents } from '../lists/list-events.ts'
import { ListSearch, minBookText } from '../lists/list-search.tsx'
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
import { conditionOf, filtersOf } from './filters/filter-condition.ts'
import {
  countFilters,
  type Filters,
  type ListKind,
  noFilters,
  partsOfSort,
  type Sort,
  sortOf,
  sortTextsOf,
  usualOrder,
  usualSort,
} from './filters/filter-fields.ts'
import { filteredPage, type Items } from './filters/filtered-page.ts'
import { NoSeries } from './library-notices.tsx'

type ListBrowserProps = {
  kind: ListKind
  /** Null for all libraries. */
  libraryId: string | null
  label: string
}

export function ListBrowser({ kind, libraryId, label }: ListBrowserProps) {
  const { query } = address.value
  const filters = filtersOf(query, kind)
  const condition = conditionOf(filters, libraryId)
  const { text } = filters
  const sort = sortOf(query, kind)
  const filter = { condition, ...(text && { fullTextSearch: text }) }
  const filterKey = JSON.stringify(filter)
  const list = usePagedList<Item>(`${kind} ${sort} ${filterKey}`, (page, signal) =>
    filteredPage(kind, { ...page, sort, condition, text }, signal),
  )
  useListEvents(list, libraryId)
  const selection = useMemo(createSelection, [kind, filterKey])
  const grid = useRef<GridHandle>(null)
  const alphabet = useAlphabet(filter, filterKey, kind === 'series' ? alphabetOrder(sort) : null)
  const jump = (index: number) => grid.current?.scrollTo(index)
  const isLine = listMode.value === 'lines'
  const total = list.total.value
  const toolbar = { kind, total, filters, sort, libraryId, alphabet }
  return (
    <div class={`browse-series${alphabet.length > 0 ? ' with-letters' : ''}`}>
      {(total !== 0 || countFilters(filters) > 0) && <Toolbar {...toolbar} onJump={jump} />}
      <FilterChips filters={filters} />
      {list.error.value && total === null ? (
        <ErrorState error={list.error.value} onRetry={() => list.reload()} />
      ) : total === 0 ? (
        countFilters(filters) > 0 ? (
          <NoMatches kind={kind} />
        ) : (
          <NoSeries libraryId={libraryId} />
        )
      ) : (
        <div class="browse-window">
          <VirtualGrid<Item>
            list={list}
            label={label}
            shape={isLine ? lineShape : cardShape}
            handle={grid}
            dependency={`${isLine} ${filterKey}`}
            renderItem={(item, tabIndex) => (
              <ItemCard kind={kind} item={item} {...{ tabIndex, selection, isLine }} />
            )}
          />
          <AlphabetRail alphabet={alphabet} onJump={jump} />
        </div>
      )}
      <SelectionBar kind={kind} selection={selection} list={list} onDone={() => list.reload()} />
    </div>
  )
}

type Item = Items[ListKind]
type ItemCardProps = Omit<Parameters<typeof BookCard>[0], 'book'> & {
  kind: ListKind
  item: Item | undefined
}

const ItemCard = ({ kind, item, ...options }: ItemCardProps) =>
  kind === 'series' ? (
    <SeriesCard series={item as Items['series'] | undefined} {...options} />
  ) : (
    <BookCard book={item as Items['books'] | undefined} {...options} showSeries />
  )

const NoMatches = ({ kind }: { kind: ListKind }) => (
  <EmptyState
    icon="filter"
    title={t(`browse.noMatches.${kind}`)}
    text={t('browse.noMatchesText')}
    action={<Button text={t('filter.clear')} onClick={() => openFilters(noFilters)} />}
  />
)

/** Only lists sorted by title have letters. */
const alphabetOrder = (sort: Sort) =>
  sort === 'title,asc' ? 'ascending' : sort === 'title,desc' ? 'descending' : null

type ToolbarProps = {
  kind: ListKind
  total: number | null
  filters: Filters
  sort: Sort
  libraryId: string | null
  alphabet: readonly Letter[]
  onJump: (index: number) => void
}

/** Count, search, letters, filters, sort order, cards or lines. */
function Toolbar({ kind, total, filters, sort, libraryId, alphabet, onJump }: ToolbarProps) {
  const count = countFilters(filters)
  const openFilterDialog = () =>
    openDialog(async () => (await import('./filters/filter-dialog.tsx')).FilterDialog, {
      ...{ kind, filters, sort, libraryId },
    })
  return (
    <div class="row browse-toolbar">
      <span class="browse-count" role="status">
        {total === null ? '' : t(`count.${kind}`, { count: total })}
      </span>
      {kind === 'books' && (
        <ListSearch
          label={t('books.search')}
          placeholder={t('nav.search')}
          minLength={minBookText}
          class="browse-search"
        />
      )}
      <AlphabetMenu alphabet={alphabet} onJump={onJump} />
      <Button icon="filter" onClick={openFilterDialog} class={count > 0 ? 'active' : ''}>
        {t('filter.title')}
        {count > 0 && <span class="badge accent">{String(count)}</span>}
      </Button>
      <SortChoice kind={kind} sort={sort} />
      <ModeSwitch />
    </div>
  )
}

function SortChoice({ kind, sort }: { kind: ListKind; sort: Sort }) {
  const [field, order] = partsOfSort(sort)
  const store = (next: string) => setQuery({ sort: next === usualSort ? null : next })
  const options = Object.entries(sortTextsOf(kind)).map(([value, text]) => ({
    value: value as typeof field,
    text: t(text),
  }))
  return (
    <div class="browse-sort">
      <BareSelect<typeof field>
        class="control"
        aria-label={t('sort.label')}
        value={field}
        options={options}
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
