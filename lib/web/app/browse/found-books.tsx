// Books matching a search text.
import { api, body, type Schemas } from '../api/client.ts'
import { BookCard } from '../lists/book-card.tsx'
import { listMode } from '../lists/list-mode.ts'
import { ModeSwitch } from '../lists/mode-switch.tsx'
import { usePagedList } from '../lists/paged-list.ts'
import { cardShape, lineShape } from '../lists/shapes.ts'
import { VirtualGrid } from '../lists/virtual-grid.tsx'
import { t } from '../text/translate.ts'
import { ErrorState } from '../ui/error-state.tsx'

export function FoundBooks({ text }: { text: string }) {
  const list = usePagedList(`found books ${text}`, (page, signal) =>
    body(
      api.POST('/api/v1/books/list', {
        params: { query: page },
        body: { fullTextSearch: text },
        signal,
      }),
    ),
  )
  const isLine = listMode.value === 'lines'
  const total = list.total.value
  if (list.error.value && total === null)
    return <ErrorState error={list.error.value} onRetry={() => list.reload()} />
  return (
    <div>
      <div class="browse-toolbar">
        <h2 class="browse-count" role="status">
          {total === null ? t('label.books') : t('count.books', { count: total })}
        </h2>
        <ModeSwitch />
      </div>
      <VirtualGrid<Schemas['Book']>
        list={list}
        label={t('label.books')}
        shape={isLine ? lineShape : cardShape}
        dependency={isLine}
        renderItem={(book, tabIndex) => (
          <BookCard book={book} tabIndex={tabIndex} isLine={isLine} showSeries />
        )}
      />
    </div>
  )
}
