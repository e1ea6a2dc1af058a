// Page of what an account wants to read: series and books, newest first or in an order of its own.
import { useMemo } from 'preact/hooks'
import { BookCard } from '../lists/book-card.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { type PagedList, usePagedList } from '../lists/paged-list.ts'
import { SeriesCard } from '../lists/series-card.ts'
import { cardShape } from '../lists/shapes.ts'
import { VirtualGrid } from '../lists/virtual-grid.ts'
import { address, href, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.ts'
import { Cover } from '../ui/cover.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { PageHeader } from '../ui/page-header.ts'
import { ArrangeList } from './arrange-list.ts'
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
  return h(
    'div',
    { class: 'organise-page' },
    h(PageHeader, {
      title: t('nav.wantToRead'),
      subtitle: total ? t('wanted.count', { count: total }) : undefined,
    }),
    (total ?? 0) > 1 && h(Toolbar, { arranges, sort: chosen }),
    list.error.value !== null && total === null
      ? h(ErrorState, { error: list.error.value, onRetry: list.reload })
      : total === 0
        ? h(EmptyState, {
            icon: 'bookmark',
            title: t('wanted.none'),
            text: t('wanted.noneText'),
            action: h('a', { class: 'button', href: href('series') }, t('wanted.browse')),
          })
        : arranges
          ? h(Arrange, { list })
          : h(WantedGrid, { list }),
  )
}

function Toolbar({ arranges, sort }: { arranges: boolean; sort: WantedSort }) {
  if (arranges)
    return h(
      'div',
      { class: 'organise-toolbar' },
      h('p', { class: 'secondary-text' }, t('organise.arrangeHint')),
      h(
        Button,
        {
          icon: 'check',
          variant: 'primary',
          onClick: () => setQuery({ mode: null, sort: 'custom' }, { replace: true }),
        },
        t('organise.arrangeDone'),
      ),
    )
  return h(
    'div',
    { class: 'organise-toolbar' },
    h(
      'label',
      { class: 'inline-field' },
      h('span', null, t('organise.sort')),
      h(
        'select',
        {
          class: 'control',
          value: sort,
          onChange: event => setQuery({ sort: event.currentTarget.value }, { replace: true }),
        },
        wantedSorts.map(name => h('option', { key: name, value: name }, t(`wanted.sort.${name}`))),
      ),
    ),
    h(
      Button,
      { icon: 'sort', onClick: () => setQuery({ mode: 'arrange' }) },
      t('organise.arrange'),
    ),
  )
}

function WantedGrid({ list }: { list: PagedList<WantedEntry> }) {
  return h(VirtualGrid<WantedEntry>, {
    list,
    label: t('nav.wantToRead'),
    shape: cardShape,
    renderItem: (wanted, tabIndex) => h(WantedCard, { wanted, tabIndex, onRemoved: list.reload }),
  })
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
  return h(
    'div',
    { class: 'wanted-card' },
    wanted?.itemType === 'book'
      ? h(BookCard, { book: wanted.book ?? undefined, tabIndex, showSeries: true })
      : h(SeriesCard, { series: series ?? undefined, tabIndex }),
    wanted &&
      h(IconButton, {
        icon: 'close',
        class: 'wanted-remove',
        tabIndex,
        label: t('wanted.remove', { title }),
        onClick: remove,
      }),
  )
}

const titleOf = (wanted: WantedEntry | undefined) =>
  wanted?.series?.title ?? wanted?.book?.title ?? ''

function Arrange({ list }: { list: PagedList<WantedEntry> }) {
  return h(ArrangeList<WantedEntry>, {
    list,
    label: t('organise.arrange'),
    titleOf,
    onMove: orderWanted,
    renderRow: wanted => {
      const { series, book } = wanted
      const owner = series ? 'series' : 'books'
      const id = series?.id ?? book?.id ?? ''
      const subtitle = series
        ? t('lists.books', { count: series.bookCount })
        : (book?.seriesName ?? '')
      return h(
        'a',
        { class: 'arrange-link', href: href(`${owner}/${id}`), draggable: false },
        h('span', { class: 'arrange-cover' }, h(Cover, { owner, id })),
        h(
          'span',
          { class: 'arrange-text' },
          h('span', { class: 'arrange-title', dir: 'auto' }, titleOf(wanted)),
          h('span', { class: 'secondary-text', dir: 'auto' }, subtitle),
        ),
      )
    },
  })
}
