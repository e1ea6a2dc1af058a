// Home page: rows of books and series, each loaded separately, in the order that the account chose.
import type { Schemas } from '../api/client.ts'
import { hasPreferences, usePreference } from '../api/preference.ts'
import { type Resource, useGet, useLibraries } from '../api/resource.ts'
import { account } from '../api/session.ts'
import { LibraryNotices, NoSeries } from '../browse/library-notices.tsx'
import { BookCard, SeriesCard } from '../lists/card.tsx'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { Shelf, shelvesInOrder } from '../lists/shelf.tsx'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { openDialog } from '../ui/dialog-host.tsx'
import { useTitle } from '../ui/page-header.tsx'
import { EmptyState, ErrorState, NoPermission } from '../ui/state.tsx'
import { type HomeRow, type RowName, rowsKey, rowsOf } from './rows.ts'

export function View() {
  useTitle(t('nav.home'))
  const preference = usePreference(rowsKey)
  const rows = rowsOf(preference.value)
  const shown = rows.filter(({ isShown }) => isShown)
  const contents = useContents(name => shown.some(row => row.name === name))
  const libraries = useLibraries()
  useReloadOnEvents(event => event.type.startsWith('library_'), libraries.reload)
  const loaded = shown.map(({ name }) => contents[name])
  const isLoaded = !preference.isLoading && loaded.every(({ items }) => items)
  const isEmpty = isLoaded && loaded.every(({ items }) => items?.length === 0)
  const failed = loaded.find(({ error, items }) => error && !items)
  const shelf = ({ name }: HomeRow) => {
    const { items } = contents[name]
    // Their order is not known yet.
    return <Row key={name} name={name} items={preference.isLoading ? undefined : items} />
  }
  return (
    <div>
      <h1 class="visually-hidden">{t('nav.home')}</h1>
      {libraries.data && <LibraryNotices libraries={libraries.data} />}
      {failed && <ErrorState error={failed.error} onRetry={failed.reload} />}
      {isEmpty &&
        (shown.length === rows.length ? (
          <NothingToShow />
        ) : (
          <EmptyState icon="home" title={t('home.nothing')} text={t('home.nothingText')} />
        ))}
      {!failed && shelvesInOrder(shown.map(shelf))}
      {hasPreferences() && isLoaded && (!isEmpty || shown.length < rows.length) && (
        <div class="home-customize">
          <Button
            icon="settings"
            variant="quiet"
            text={t('home.rows')}
            onClick={() => chooseRows(rows, preference.save)}
          />
        </div>
      )}
    </div>
  )
}

const chooseRows = (
  rows: readonly HomeRow[],
  onSave: (rows: readonly HomeRow[] | null) => Promise<void>,
) => openDialog(async () => (await import('./rows-dialog.tsx')).RowsDialog, { rows, onSave })

type Item = Schemas['Book'] | Schemas['Series']
type Items = readonly Item[] | undefined
type Content = { items: Items; error: unknown; reload: () => void }

const query = { page: 1, pageSize: 20 }

/** Contents by row; hidden rows load nothing. */
function useContents(isShown: (name: RowName) => boolean): Record<RowName, Content> {
  const path = <P extends string>(name: RowName, path: P) => (isShown(name) ? path : null)
  const updated = path('updated', '/api/v1/series/recently-updated')
  return {
    reading: useContent(
      useGet(path('reading', '/api/v1/books/in-progress'), { query }),
      isProgress,
    ),
    onDeck: useContent(useGet(path('onDeck', '/api/v1/books/on-deck'), { query }), isProgress),
    newBooks: useContent(
      useGet(path('newBooks', '/api/v1/books/recently-added'), { query }),
      isChange,
    ),
    newSeries: useContent(
      useGet(path('newSeries', '/api/v1/series/recently-added'), { query }),
      isChange,
    ),
    updated: useContent(useGet(updated, { query: { ...query, grown: true } }), isChange),
    recentlyRead: useContent(
      useGet(path('recentlyRead', '/api/v1/books/recently-read'), { query }),
      isProgress,
    ),
  }
}

function useContent(resource: Resource<{ data: Item[] }>, matters: (event: Event) => boolean) {
  const { data, error, reload } = resource
  useReloadOnEvents(matters, reload)
  return { items: data?.data, error, reload }
}

/** Pages with all items of a row. */
const pages: Partial<Record<RowName, string>> = {
  newSeries: 'series?sort=date_added,desc',
  newBooks: 'books?sort=date_added,desc',
  recentlyRead: 'recently-read',
}
const seriesRows: readonly RowName[] = ['newSeries', 'updated']

function Row({ name, items }: { name: RowName; items: Items }) {
  const page = pages[name]
  return (
    <Shelf<Item>
      title={t(`home.${name}`)}
      path={page && href(page)}
      items={items}
      renderItem={(item, tabIndex) =>
        seriesRows.includes(name) ? (
          <SeriesCard series={item as Schemas['Series']} tabIndex={tabIndex} />
        ) : (
          <BookCard
            book={item as Schemas['Book']}
            tabIndex={tabIndex}
            showSeries
            toReader={name === 'reading'}
          />
        )
      }
    />
  )
}

function NothingToShow() {
  if (account.value?.effectivePermissions.length !== 0) return <NoSeries libraryId={null} />
  return <NoPermission />
}

type Event = { type: string }

const isChange = (event: Event) => /^(?:series|book)_(?:created|updated|deleted)$/.test(event.type)
const isProgress = (event: Event) =>
  event.type === 'progress_updated' || /^book_(?:created|deleted)$/.test(event.type)
