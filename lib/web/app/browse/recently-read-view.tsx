// Page with the books that the account has read, the last ones first.
import { api, body, type Schemas } from '../api/client.ts'
import { BookCard } from '../lists/card.tsx'
import { cardShape, lineShape } from '../lists/grid-layout.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { listMode, ModeSwitch } from '../lists/mode-switch.tsx'
import { usePagedList } from '../lists/paged-list.ts'
import { VirtualGrid } from '../lists/virtual-grid.tsx'
import { t } from '../text/translate.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'

export function View() {
  const list = usePagedList('recently read', (query, signal) =>
    body(api.GET('/api/v1/books/recently-read', { params: { query }, signal })),
  )
  useReloadOnEvents(
    ({ type }) => type === 'progress_updated' || /^book_(?:created|updated|deleted)$/.test(type),
    () => list.reload(),
  )
  const isLine = listMode.value === 'lines'
  const total = list.total.value
  return (
    <div>
      <PageHeader
        title={t('home.recentlyRead')}
        subtitle={total ? t('count.books', { count: total }) : '\u00a0'}
        actions={<ModeSwitch />}
      />
      {list.error.value && total === null ? (
        <ErrorState error={list.error.value} onRetry={() => list.reload()} />
      ) : total === 0 ? (
        <EmptyState icon="book" title={t('home.nothingRead')} text={t('home.nothingReadText')} />
      ) : (
        <VirtualGrid<Schemas['Book']>
          list={list}
          label={t('home.recentlyRead')}
          shape={isLine ? lineShape : cardShape}
          dependency={isLine}
          renderItem={(book, tabIndex) => (
            <BookCard book={book} tabIndex={tabIndex} isLine={isLine} showSeries />
          )}
        />
      )}
    </div>
  )
}
