// Want-to-read page: series and books, newest first or in a custom order.
import { api, body, type Schemas } from '../api/client.ts'
import { BookCard, SeriesCard } from '../lists/card.tsx'
import { cardShape } from '../lists/grid-layout.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { type PagedList, usePagedList } from '../lists/paged-list.ts'
import { VirtualGrid } from '../lists/virtual-grid.tsx'
import { address, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { ButtonLink, IconButton } from '../ui/button.tsx'
import { optionsOf } from '../ui/field.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { setWantToRead } from './actions.ts'
import { ArrangeLine, ArrangeList, ArrangeToolbar } from './arrange-list.tsx'

export function View() {
  const arranges = address.value.query.get('mode') === 'arrange'
  const chosen = wantedSorts.find(sort => sort === address.value.query.get('sort')) ?? 'newest'
  const sort: WantedSort = arranges ? 'custom' : chosen
  const list = usePagedList<WantedEntry>(`/want-to-read?${sort}`, (page, signal) =>
    listEntries({ ...page, sort, includeItems: true }, signal),
  )
  useReloadOnEvents(
    ({ type }) =>
      /^(?:progress_updated|want_to_read_updated|series_deleted|book_deleted)$/.test(type),
    () => list.reload(),
  )
  const total = list.total.value
  return (
    <div class="organize-page">
      <PageHeader
        title={t('nav.wantToRead')}
        subtitle={total ? t('wanted.count', { count: total }) : undefined}
      />
      {(total ?? 0) > 1 && (
        <ArrangeToolbar<WantedSort>
          isArranging={arranges}
          sort={chosen}
          options={optionsOf(wantedSorts, value =>
            t(value === 'custom' ? 'sort.custom' : `wanted.sort.${value}`),
          )}
          onSort={sort => setQuery({ sort }, { replace: true })}
          onArrange={() => setQuery({ mode: 'arrange' })}
          onDone={() => setQuery({ mode: null, sort: 'custom' }, { replace: true })}
        />
      )}
      {list.error.value !== null && total === null ? (
        <ErrorState error={list.error.value} onRetry={list.reload} />
      ) : total === 0 ? (
        <EmptyState
          icon="bookmark"
          title={t('wanted.none')}
          text={t('wanted.noneText')}
          action={<ButtonLink path="series" text={t('wanted.browse')} />}
        />
      ) : arranges ? (
        <Arrange list={list} />
      ) : (
        <WantedGrid list={list} />
      )}
    </div>
  )
}

function WantedGrid({ list }: { list: PagedList<WantedEntry> }) {
  return (
    <VirtualGrid<WantedEntry>
      list={list}
      label={t('nav.wantToRead')}
      shape={cardShape}
      renderItem={(wanted, tabIndex) => (
        <WantedCard wanted={wanted} tabIndex={tabIndex} onRemoved={list.reload} />
      )}
    />
  )
}

type WantedCardProps = { wanted: WantedEntry | undefined; tabIndex: number; onRemoved: () => void }

function WantedCard({ wanted, tabIndex, onRemoved }: WantedCardProps) {
  const series = wanted?.series
  const title = titleOf(wanted)
  const remove = async () => {
    const ids = series ? { seriesIds: [series.id] } : { bookIds: [wanted!.book!.id] }
    await setWantToRead(ids, false, onRemoved)
    onRemoved()
  }
  return (
    <div class="wanted-card">
      {wanted?.itemType === 'book' ? (
        <BookCard book={wanted.book ?? undefined} tabIndex={tabIndex} showSeries />
      ) : (
        <SeriesCard series={series ?? undefined} tabIndex={tabIndex} />
      )}
      {wanted && (
        <IconButton
          icon="close"
          isFramed
          class="wanted-remove"
          tabIndex={tabIndex}
          label={t('wanted.remove', { title })}
          onClick={remove}
        />
      )}
    </div>
  )
}

const titleOf = (wanted: WantedEntry | undefined) =>
  wanted?.series?.title ?? wanted?.book?.title ?? ''

function Arrange({ list }: { list: PagedList<WantedEntry> }) {
  return (
    <ArrangeList<WantedEntry>
      list={list}
      label={t('organize.arrange')}
      titleOf={titleOf}
      onMove={orderWanted}
      renderRow={wanted => {
        const { series, book } = wanted
        const owner = series ? 'series' : 'books'
        const id = series?.id ?? book?.id ?? ''
        const subtitle = series
          ? t('count.books', { count: series.bookCount })
          : (book?.seriesName ?? '')
        return <ArrangeLine owner={owner} id={id} title={titleOf(wanted)} subtitle={subtitle} />
      }}
    />
  )
}

type WantedEntry = Schemas['WantToReadItem']

const wantedSorts = ['newest', 'oldest', 'custom'] as const
type WantedSort = (typeof wantedSorts)[number]

type Query = { page: number; pageSize: number; sort: WantedSort; includeItems?: boolean }

async function listEntries(query: Query, signal?: AbortSignal) {
  const init = { params: { query }, ...(signal && { signal }) }
  return await body(api.GET('/api/v1/want-to-read', init))
}

/** Moves an entry in the custom order. Throws ApiError. */
async function orderWanted(from: number, to: number): Promise<void> {
  const last = Math.max(from, to)
  const pageSize = 500
  const ids: string[] = []
  for (let page = 1; ids.length <= last; page++) {
    const { data, totalPages } = await listEntries({ page, pageSize, sort: 'custom' })
    ids.push(...data.map(({ id }) => id))
    if (page >= totalPages) break
  }
  ids.length = Math.min(ids.length, last + 1)
  const [moved] = ids.splice(from, 1)
  ids.splice(to, 0, moved!)
  await api.PUT('/api/v1/want-to-read/order', { body: { entryIds: ids } })
}
