// Home page: books in progress, next books and new books, each loaded separately.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { account } from '../api/session.ts'
import { LibraryNotices } from '../browse/library-notices.tsx'
import { NoSeries } from '../browse/no-series.tsx'
import { BookCard } from '../lists/book-card.tsx'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { SeriesCard } from '../lists/series-card.tsx'
import { Shelf, shelvesInOrder } from '../lists/shelf.tsx'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { useTitle } from '../ui/page-header.tsx'

const query = { page: 1, pageSize: 20 }

export function View() {
  useTitle(t('nav.home'))
  const reading = useShelf('books/in-progress', isProgress, signal =>
    api.GET('/api/v1/books/in-progress', { params: { query }, signal }),
  )
  const onDeck = useShelf('books/on-deck', isProgress, signal =>
    api.GET('/api/v1/books/on-deck', { params: { query }, signal }),
  )
  const newBooks = useShelf('books/recently-added', isChange, signal =>
    api.GET('/api/v1/books/recently-added', { params: { query }, signal }),
  )
  const newSeries = useShelf('series/recently-added', isChange, signal =>
    api.GET('/api/v1/series/recently-added', { params: { query }, signal }),
  )
  const updated = useShelf('series/recently-updated', isChange, signal =>
    api.GET('/api/v1/series/recently-updated', {
      params: { query: { ...query, grown: true } },
      signal,
    }),
  )
  const libraries = useLibraries()
  const shelves = [reading, onDeck, newBooks, newSeries, updated]
  const isEmpty = shelves.every(({ items }) => items?.length === 0)
  const failed = shelves.find(({ error, items }) => error && !items)
  const book = (showReader: boolean) => (book: Schemas['Book'], tabIndex: number) => (
    <BookCard book={book} tabIndex={tabIndex} showSeries toReader={showReader} />
  )
  const series = (series: Schemas['Series'], tabIndex: number) => (
    <SeriesCard series={series} tabIndex={tabIndex} />
  )
  return (
    <div>
      <h1 class="visually-hidden">{t('nav.home')}</h1>
      {libraries.data && <LibraryNotices libraries={libraries.data.data} />}
      {failed && <ErrorState error={failed.error} onRetry={failed.reload} />}
      {isEmpty && <NothingToShow />}
      {!failed &&
        shelvesInOrder([
          <Shelf<Schemas['Book']>
            key="reading"
            title={t('home.reading')}
            items={reading.items}
            renderItem={book(true)}
          />,
          <Shelf<Schemas['Book']>
            key="onDeck"
            title={t('home.onDeck')}
            items={onDeck.items}
            renderItem={book(false)}
          />,
          <Shelf<Schemas['Series']>
            key="newSeries"
            title={t('home.newSeries')}
            path={href('series?sort=date_added,desc')}
            items={newSeries.items}
            renderItem={series}
          />,
          <Shelf<Schemas['Book']>
            key="newBooks"
            title={t('home.newBooks')}
            items={newBooks.items}
            renderItem={book(false)}
          />,
          <Shelf<Schemas['Series']>
            key="updated"
            title={t('home.updated')}
            items={updated.items}
            renderItem={series}
          />,
        ])}
    </div>
  )
}

function NothingToShow() {
  if (account.value?.effectivePermissions.length !== 0) return <NoSeries libraryId={null} />
  const [title, text] = [t('state.noPermission'), t('state.noPermissionText')]
  return <EmptyState icon="lock" title={title} text={text} />
}

function useLibraries() {
  const query = { page: 1, pageSize: 500 }
  const libraries = useResource('libraries', signal =>
    body(api.GET('/api/v1/libraries', { params: { query }, signal })),
  )
  useReloadOnEvents(event => event.type.startsWith('library_'), libraries.reload)
  return libraries
}

type Event = { type: string }

const isChange = (event: Event) => /^(?:series|book)_(?:created|updated|deleted)$/.test(event.type)
const isProgress = (event: Event) =>
  event.type === 'progress_updated' || /^book_(?:created|deleted)$/.test(event.type)

function useShelf<T>(
  key: string,
  matters: (event: Event) => boolean,
  load: (signal: AbortSignal) => Promise<{ data?: { data: T[] } }>,
) {
  const { data, error, reload } = useResource(`home ${key}`, signal => body(load(signal)))
  useReloadOnEvents(matters, reload)
  return { items: data?.data, error, reload }
}
