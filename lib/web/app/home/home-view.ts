// Home page: books to go on with, what is next, and what is new, each loaded for itself.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { account } from '../api/session.ts'
import { LibraryNotices } from '../browse/library-notices.ts'
import { NoSeries } from '../browse/no-series.ts'
import { BookCard } from '../lists/book-card.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { SeriesCard } from '../lists/series-card.ts'
import { Shelf, shelvesInOrder } from '../lists/shelf.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { useTitle } from '../ui/page-header.ts'

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
  const newSeries = useShelf(
    'series/recently-added',
    isChange,
    signal =>
      api.GET('/api/v1/series/recently-added', {
        params: { query },
        signal,
      }) as Promise<SeriesAnswer>,
  )
  const updated = useShelf(
    'series/recently-updated',
    isChange,
    signal =>
      api.GET('/api/v1/series/recently-updated', {
        params: { query: { ...query, grown: true } },
        signal,
      }) as Promise<SeriesAnswer>,
  )
  const libraries = useLibraries()
  const shelves = [reading, onDeck, newBooks, newSeries, updated]
  const isEmpty = shelves.every(({ items }) => items?.length === 0)
  const failed = shelves.find(({ error, items }) => error && !items)
  const book = (showReader: boolean) => (book: Schemas['Book'], tabIndex: number) =>
    h(BookCard, { book, tabIndex, showSeries: true, toReader: showReader })
  const series = (series: Schemas['Series'], tabIndex: number) =>
    h(SeriesCard, { series, tabIndex })
  return h(
    'div',
    null,
    h('h1', { class: 'visually-hidden' }, t('nav.home')),
    libraries.data && h(LibraryNotices, { libraries: libraries.data.data }),
    failed && h(ErrorState, { error: failed.error, onRetry: failed.reload }),
    isEmpty && h(NothingToShow, null),
    !failed &&
      shelvesInOrder([
        h(Shelf<Schemas['Book']>, {
          key: 'reading',
          title: t('home.reading'),
          items: reading.items,
          renderItem: book(true),
        }),
        h(Shelf<Schemas['Book']>, {
          key: 'onDeck',
          title: t('home.onDeck'),
          items: onDeck.items,
          renderItem: book(false),
        }),
        h(Shelf<Schemas['Series']>, {
          key: 'newSeries',
          title: t('home.newSeries'),
          path: href('series?sort=date_added,desc'),
          items: newSeries.items,
          renderItem: series,
        }),
        h(Shelf<Schemas['Book']>, {
          key: 'newBooks',
          title: t('home.newBooks'),
          items: newBooks.items,
          renderItem: book(false),
        }),
        h(Shelf<Schemas['Series']>, {
          key: 'updated',
          title: t('home.updated'),
          items: updated.items,
          renderItem: series,
        }),
      ]),
  )
}

function NothingToShow() {
  if (account.value?.effectivePermissions.length !== 0) return h(NoSeries, { libraryId: null })
  const [title, text] = [t('state.noPermission'), t('state.noPermissionText')]
  return h(EmptyState, { icon: 'lock', title, text })
}

function useLibraries() {
  const query = { page: 1, pageSize: 500 }
  const libraries = useResource('libraries', signal =>
    body(api.GET('/api/v1/libraries', { params: { query }, signal })),
  )
  useReloadOnEvents(event => event.type.startsWith('library_'), libraries.reload)
  return libraries
}

type SeriesAnswer = { data?: { data: Schemas['Series'][] } }
type Event = { type: string }

const isChange = (event: Event) => /^(?:series|book)_(?:created|updated|deleted)$/.test(event.type)
const isProgress = (event: Event) =>
  event.type === 'progress_updated' || /^book_(?:created|deleted)$/.test(event.type)

function useShelf<T>(
  key: string,
  matters: (event: Event) => boolean,
  load: (signal: AbortSignal) => Promise<{ data?: { data: T[] } | T[] }>,
) {
  const { data, error, reload } = useResource(`home ${key}`, signal => body(load(signal)))
  useReloadOnEvents(matters, reload)
  const items = Array.isArray(data) ? data : data?.data
  return { items, error, reload }
}
