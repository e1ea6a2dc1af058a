// Search page with results as you type: series, books, collections, read lists.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { BookCard } from '../lists/book-card.tsx'
import { SeriesCard } from '../lists/series-card.tsx'
import { Shelf, shelvesInOrder } from '../lists/shelf.tsx'
import { address, href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { useTitle } from '../ui/page-header.tsx'
import { FoundBooks } from './found-books.tsx'
import { GroupingResults } from './grouping-results.tsx'

const waitMs = 150
const page = { page: 1, pageSize: 20 }
/** Shorter texts match too many books. */
const minBookText = 3

export function View() {
  const { query } = address.value
  const text = useDebounced((query.get('q') ?? '').trim())
  const isAllBooks = query.get('type') === 'books'
  useTitle(text ? t('search.titleOf', { text }) : t('search.title'))
  return (
    <div>
      <h1 class="visually-hidden">{t('search.title')}</h1>
      {text === '' ? (
        <EmptyState icon="search" title={t('search.start')} text={t('search.startText')} />
      ) : isAllBooks ? (
        <FoundBooks text={text} />
      ) : (
        <Results text={text} />
      )}
    </div>
  )
}

/** The debounced text; the first value is used immediately. */
function useDebounced(text: string): string {
  const [value, setValue] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setValue(text), waitMs)
    return () => clearTimeout(timer)
  }, [text])
  return value
}

function Results({ text }: { text: string }) {
  const series = usePrevious(
    useResource(
      `search series ${text}`,
      signal =>
        body(
          api.POST('/api/v1/series/search', {
            params: { query: page },
            body: { query: text },
            signal,
          }),
        ) as Promise<Schemas['SeriesPage']>,
    ),
  )
  const isLong = [...text].length >= minBookText
  const books = usePrevious(
    useResource(isLong ? `search books ${text}` : null, signal =>
      body(
        api.POST('/api/v1/books/list', {
          params: { query: page },
          body: { fullTextSearch: text },
          signal,
        }),
      ),
    ),
  )
  const collections = usePrevious(
    useResource(can('CollectionsRead') ? `search collections ${text}` : null, signal =>
      body(
        api.GET('/api/v1/collections', { params: { query: { ...page, search: text } }, signal }),
      ),
    ),
  )
  const readLists = usePrevious(
    useResource(can('ReadListsRead') ? `search readlists ${text}` : null, signal =>
      body(api.GET('/api/v1/readlists', { params: { query: { ...page, search: text } }, signal })),
    ),
  )
  const all = [series, ...(isLong ? [books] : []), collections, readLists]
  const groupings = [
    ...(can('CollectionsRead') ? [['collections', collections] as const] : []),
    ...(can('ReadListsRead') ? [['readlists', readLists] as const] : []),
  ]
  const isNothing = all.every(({ data }) => data?.total === 0)
  const count = all.reduce((sum, { data }) => sum + (data?.total ?? 0), 0)
  if (series.error && !series.data)
    return <ErrorState error={series.error} onRetry={series.reload} />
  const q = encodeURIComponent(text)
  return (
    <div>
      <p class="visually-hidden" role="status">
        {all.every(({ data }) => data) ? t('search.count', { count }) : ''}
      </p>
      {isNothing && <Nothing text={text} />}
      {shelvesInOrder([
        <Shelf<Schemas['Series']>
          key="series"
          title={titleOf(t('label.series'), series.data?.total)}
          path={(series.data?.total ?? 0) > page.pageSize ? href(`series?q=${q}`) : undefined}
          items={series.data?.data}
          renderItem={(series, tabIndex) => <SeriesCard series={series} tabIndex={tabIndex} />}
        />,
        ...(isLong
          ? [
              <Shelf<Schemas['Book']>
                key="books"
                title={titleOf(t('label.books'), books.data?.total)}
                path={
                  (books.data?.total ?? 0) > page.pageSize
                    ? href(`search?q=${q}&type=books`)
                    : undefined
                }
                items={orNone(books.data?.data, books.error)}
                renderItem={(book, tabIndex) => (
                  <BookCard book={book} tabIndex={tabIndex} showSeries />
                )}
              />,
            ]
          : []),
        ...groupings.map(([owner, found]) => (
          <GroupingResults
            key={owner}
            owner={owner}
            items={orNone(found.data?.data, found.error)}
          />
        )),
      ])}
    </div>
  )
}

const Nothing = ({ text }: { text: string }) => (
  <EmptyState icon="search" title={t('search.nothing', { text })} text={t('search.nothingText')} />
)

/** Empty if they could not be loaded; the other results are still shown. */
const orNone = <T,>(items: T | undefined, error: unknown) => items ?? (error ? [] : undefined)

const titleOf = (title: string, total: number | undefined) =>
  total === undefined ? title : t('search.group', { title, count: total })

/** Earlier results stay until the next ones arrive, so that nothing jumps while typing. */
function usePrevious<T, R extends { data: T | undefined }>(resource: R): R {
  const latest = useRef<T | undefined>(undefined)
  if (resource.data !== undefined) latest.current = resource.data
  return { ...resource, data: latest.current }
}
