// Reader page: loads the book and the reader for its format.
import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { allItems, api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { loadPart, type ViewProps } from '../routing/load-view.ts'
import { goBack } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, ButtonLink, IconButton } from '../ui/button.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { ComicReader } from './comic-reader.tsx'
import type { PageInfo } from './page-layout.ts'

export function View({ params: { id = '' } }: ViewProps) {
  const { data: book, error, reload } = useCurrentBook(id)
  if (error) return <Failed error={error} onRetry={reload} />
  if (!book) return <main class="reader" aria-busy />
  return book.fileFormat === 'epub' ? <EpubLoader book={book} /> : <PagesLoader book={book} />
}

/** Always fetched: a cached record would continue at an old page. */
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
  if (error) return <Failed error={error} onRetry={reload} />
  if (!data) return <main class="reader" aria-busy />
  if (data.length === 0) return <WithoutPages book={book} onRetry={reload} />
  return <ComicReader book={book} pages={data.map(pageInfo)} />
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
  return (
    <Centered>
      <EmptyState
        icon="book"
        title={t('reader.unreadable', { title: book.title })}
        text={text}
        action={
          <div class="reader-card-actions">
            <Button icon="refresh" text={t('action.retry')} onClick={onRetry} />
            <ButtonLink path={`books/${book.id}`} text={t('reader.close')} />
          </div>
        }
      />
    </Centered>
  )
}

type EpubComponent = FunctionComponent<{ book: Schemas['Book'] }>

/** The EPUB reader is a separate bundle that comics do not load. */
function EpubLoader({ book }: { book: Schemas['Book'] }) {
  const [{ Reader, error }, setState] = useState<{ Reader?: EpubComponent; error?: Error }>({})
  useEffect(() => {
    let isLeft = false
    loadPart(() => import('../epub/epub-reader.tsx'), ['epub/epub.css']).then(
      ({ EpubReader }) => !isLeft && setState({ Reader: EpubReader }),
      error => !isLeft && setState({ error }),
    )
    return () => {
      isLeft = true
    }
  }, [])
  if (Reader) return <Reader book={book} />
  // Some browsers cache a failed module load until the page is reloaded.
  return error ? (
    <Failed error={error} onRetry={() => location.reload()} />
  ) : (
    <main class="reader" aria-busy />
  )
}

const Failed = (props: { error: Error; onRetry: () => void }) => (
  <Centered>
    <ErrorState {...props} />
  </Centered>
)

const Centered: FunctionComponent = ({ children }) => (
  <main class="reader-message">
    <IconButton
      icon="arrowLeft"
      class="icon-directional"
      label={t('reader.close')}
      onClick={() => goBack('')}
    />
    {children}
  </main>
)
