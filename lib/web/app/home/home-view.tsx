// Home page: books in progress, next books and new books, each loaded separately.
import type { Schemas } from '../api/client.ts'
import { type Resource, useGet, useLibraries } from '../api/resource.ts'
import { account } from '../api/session.ts'
import { LibraryNotices, NoSeries } from '../browse/library-notices.tsx'
import { BookCard, SeriesCard } from '../lists/card.tsx'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { Shelf, shelvesInOrder } from '../lists/shelf.tsx'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { useTitle } from '../ui/page-header.tsx'
import { ErrorState, NoPermission } from '../ui/state.tsx'

const query = { page: 1, pageSize: 20 }

export function View() {
  useTitle(t('nav.home'))
  const reading = useShelf(useGet('/api/v1/books/in-progress', { query }), isProgress)
  const onDeck = useShelf(useGet('/api/v1/books/on-deck', { query }), isProgress)
  const newBooks = useShelf(useGet('/api/v1/books/recently-added', { query }), isChange)
  const newSeries = useShelf(useGet('/api/v1/series/recently-added', { query }), isChange)
  const grown = { ...query, grown: true }
  const updated = useShelf(useGet('/api/v1/series/recently-updated', { query: grown }), isChange)
  const libraries = useLibraries()
  useReloadOnEvents(event => event.type.startsWith('library_'), libraries.reload)
  const shelves = [reading, onDeck, newBooks, newSeries, updated]
  const isEmpty = shelves.every(({ items }) => items?.length === 0)
  const failed = shelves.find(({ error, items }) => error && !items)
  return (
    <div>
      <h1 class="visually-hidden">{t('nav.home')}</h1>
      {libraries.data && <LibraryNotices libraries={libraries.data} />}
      {failed && <ErrorState error={failed.error} onRetry={failed.reload} />}
      {isEmpty && <NothingToShow />}
      {!failed &&
        shelvesInOrder([
          bookShelf('reading', reading.items),
          bookShelf('onDeck', onDeck.items),
          seriesShelf('newSeries', newSeries.items, href('series?sort=date_added,desc')),
          bookShelf('newBooks', newBooks.items),
          seriesShelf('updated', updated.items),
        ])}
    </div>
  )
}

type Items<T> = readonly T[] | undefined

const bookShelf = (name: 'reading' | 'onDeck' | 'newBooks', items: Items<Schemas['Book']>) => (
  <Shelf<Schemas['Book']>
    key={name}
    title={t(`home.${name}`)}
    items={items}
    renderItem={(book, tabIndex) => (
      <BookCard book={book} tabIndex={tabIndex} showSeries toReader={name === 'reading'} />
    )}
  />
)

const seriesShelf = (
  name: 'newSeries' | 'updated',
  items: Items<Schemas['Series']>,
  path?: string,
) => (
  <Shelf<Schemas['Series']>
    key={name}
    title={t(`home.${name}`)}
    path={path}
    items={items}
    renderItem={(series, tabIndex) => <SeriesCard series={series} tabIndex={tabIndex} />}
  />
)

function NothingToShow() {
  if (account.value?.effectivePermissions.length !== 0) return <NoSeries libraryId={null} />
  return <NoPermission />
}

type Event = { type: string }

const isChange = (event: Event) => /^(?:series|book)_(?:created|updated|deleted)$/.test(event.type)
const isProgress = (event: Event) =>
  event.type === 'progress_updated' || /^book_(?:created|deleted)$/.test(event.type)

function useShelf<T>(shelf: Resource<{ data: T[] }>, matters: (event: Event) => boolean) {
  const { data, error, reload } = shelf
  useReloadOnEvents(matters, reload)
  return { items: data?.data, error, reload }
}
