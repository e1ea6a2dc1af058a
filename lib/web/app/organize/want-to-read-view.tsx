// Want-to-read page: series and books, newest first or in a custom order.
import { useMemo } from 'preact/hooks'
import { BookCard } from '../lists/book-card.tsx'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { type PagedList, usePagedList } from '../lists/paged-list.ts'
import { SeriesCard } from '../lists/series-card.tsx'
import { cardShape } from '../lists/shapes.ts'
import { VirtualGrid } from '../lists/virtual-grid.tsx'
import { address, href, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ArrangeList } from './arrange-list.tsx'
import { setWantToRead } from './wanted.ts'
import {
  createWantedLoader,
  orderWanted,
  type WantedEntry,
  type WantedSort,
  wantedSorts,
} from './wanted-list.ts'

export function View() {
  const arranges = address.value.query.get('mode') === 'arrange'
  const chosen = wantedSorts.find(sort => sort === address.value.query.get('sort')) ?? 'newest'
  const sort: WantedSort = arranges ? 'custom' : chosen
  const load = useMemo(() => createWantedLoader(sort), [sort])
  const list = usePagedList<WantedEntry>(`/want-to-read?${sort}`, load)
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
      {(total ?? 0) > 1 && <Toolbar arranges={arranges} sort={chosen} />}
      {list.error.value !== null && total === null ? (
        <ErrorState error={list.error.value} onRetry={list.reload} />
      ) : total === 0 ? (
        <EmptyState
          icon="bookmark"
          title={t('wanted.none')}
          text={t('wanted.noneText')}
          action={
            <a class="button" href={href('series')}>
              {t('wanted.browse')}
            </a>
          }
        />
      ) : arranges ? (
        <Arrange list={list} />
      ) : (
        <WantedGrid list={list} />
      )}
    </div>
  )
}

function Toolbar({ arranges, sort }: { arranges: boolean; sort: WantedSort }) {
  if (arranges)
    return (
      <div class="organize-toolbar">
        <p class="secondary-text">{t('organize.arrangeHint')}</p>
        <Button
          icon="check"
          variant="primary"
          onClick={() => setQuery({ mode: null, sort: 'custom' }, { replace: true })}
        >
          {t('action.done')}
        </Button>
      </div>
    )
  return (
    <div class="organize-toolbar">
      <label class="inline-field">
        <span>{t('sort.label')}</span>
        <select
          class="control"
          value={sort}
          onChange={event => setQuery({ sort: event.currentTarget.value }, { replace: true })}
        >
          {wantedSorts.map(name => (
            <option key={name} value={name}>
              {t(name === 'custom' ? 'sort.custom' : `wanted.sort.${name}`)}
            </option>
          ))}
        </select>
      </label>
      <Button icon="sort" onClick={() => setQuery({ mode: 'arrange' })}>
        {t('organize.arrange')}
      </Button>
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
        return (
          <a class="arrange-link" href={href(`${owner}/${id}`)} draggable={false}>
            <span class="arrange-cover">
              <Cover owner={owner} id={id} />
            </span>
            <span class="arrange-text">
              <span class="arrange-title" dir="auto">
                {titleOf(wanted)}
              </span>
              <span class="secondary-text" dir="auto">
                {subtitle}
              </span>
            </span>
          </a>
        )
      }}
    />
  )
}
