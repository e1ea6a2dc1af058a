// All books that a text finds.
import { api, body, type Schemas } from '../api/client.ts'
import { BookCard } from '../lists/book-card.ts'
import { listMode } from '../lists/list-mode.ts'
import { ModeSwitch } from '../lists/mode-switch.ts'
import { usePagedList } from '../lists/paged-list.ts'
import { cardShape, lineShape } from '../lists/shapes.ts'
import { VirtualGrid } from '../lists/virtual-grid.ts'
import { t } from '../text/translate.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'

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
    return h(ErrorState, { error: list.error.value, onRetry: () => list.reload() })
  return h(
    'div',
    null,
    h(
      'div',
      { class: 'browse-toolbar' },
      h(
        'h2',
        { class: 'browse-count', role: 'status' },
        total === null ? t('details.books') : t('lists.books', { count: total }),
      ),
      h(ModeSwitch, null),
    ),
    h(VirtualGrid<Schemas['Book']>, {
      list,
      label: t('details.books'),
      shape: isLine ? lineShape : cardShape,
      dependency: isLine,
      renderItem: (book, tabIndex) => h(BookCard, { book, tabIndex, isLine, showSeries: true }),
    }),
  )
}
