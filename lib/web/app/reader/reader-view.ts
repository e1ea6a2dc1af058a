// Page of the reader: loads the book, and the reader of its format.
import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { allItems } from '../api/all-items.ts'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { loadPart } from '../routing/load-view.ts'
import { goBack, href } from '../routing/router.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { ComicReader } from './comic-reader.ts'
import type { PageInfo } from './page-layout.ts'

export function View({ params }: ViewProps) {
  return h(BookReader, { id: params.id!, key: params.id! })
}

function BookReader({ id }: { id: string }) {
  const { data: book, error, reload } = useCurrentBook(id)
  if (error) return h(Centered, null, h(ErrorState, { error, onRetry: reload }))
  if (!book) return h('main', { class: 'reader', 'aria-busy': true })
  return book.fileFormat === 'epub' ? h(EpubLoader, { book }) : h(PagesLoader, { book })
}

/** Always that of the server: a stored record would continue at an old page. */
function useCurrentBook(id: string) {
  const [opened] = useState(() => Date.now())
  return useResource<Schemas['Book']>(`read:${id}:${opened}`, async signal => {
    const detail = await body(api.GET('/api/v1/books/{id}', { params: { path: { id } }, signal }))
    return detail.book
  })
}

function PagesLoader({ book }: { book: Schemas['Book'] }) {
  const { data, error, reload } = useResource(`pages:${book.id}:${book.updatedAt}`, signal =>
    allItems(query =>
      api.GET('/api/v1/books/{id}/pages', { params: { path: { id: book.id }, query }, signal }),
    ),
  )
  if (error) return h(Centered, null, h(ErrorState, { error, onRetry: reload }))
  if (!data) return h('main', { class: 'reader', 'aria-busy': true })
  if (data.length === 0) return h(WithoutPages, { book, onRetry: reload })
  return h(ComicReader, { book, pages: data.map(pageInfo) })
}

const pageInfo = (page: Schemas['Page']): PageInfo => ({
  number: page.pageNumber,
  width: page.width,
  height: page.height,
  format: page.fileFormat,
  bytes: page.fileSize,
})

function WithoutPages({ book, onRetry }: { book: Schemas['Book']; onRetry: () => void }) {
  const text = book.analyzed
    ? (book.analysisError ?? t('reader.withoutPages'))
    : t('reader.notAnalyzed')
  return h(
    Centered,
    null,
    h(EmptyState, {
      icon: 'book',
      title: t('reader.unreadable', { title: book.title }),
      text,
      action: h(
        'div',
        { class: 'reader-card-actions' },
        h(Button, { icon: 'refresh', onClick: onRetry }, t('action.retry')),
        h('a', { class: 'button', href: href(`books/${book.id}`) }, t('reader.close')),
      ),
    }),
  )
}

type EpubComponent = FunctionComponent<{ book: Schemas['Book'] }>

/** The reader of EPUB is a part of its own, which comics do not load. */
function EpubLoader({ book }: { book: Schemas['Book'] }) {
  const [{ Reader, error }, setState] = useState<{ Reader?: EpubComponent; error?: Error }>({})
  useEffect(() => {
    let isLeft = false
    loadPart(() => import('../epub/epub-reader.ts'), ['epub/epub.css']).then(
      ({ EpubReader }) => !isLeft && setState({ Reader: EpubReader }),
      error => !isLeft && setState({ error }),
    )
    return () => {
      isLeft = true
    }
  }, [])
  if (Reader) return h(Reader, { book })
  // Some browsers remember modules that could not be loaded until the page is loaded again.
  return error
    ? h(Centered, null, h(ErrorState, { error, onRetry: () => location.reload() }))
    : h('main', { class: 'reader', 'aria-busy': true })
}

const Centered: FunctionComponent = ({ children }) =>
  h(
    'main',
    { class: 'reader-message' },
    h(IconButton, {
      icon: 'arrowLeft',
      variant: 'quiet',
      class: 'icon-directional',
      label: t('reader.close'),
      onClick: () => goBack(''),
    }),
    children,
  )
