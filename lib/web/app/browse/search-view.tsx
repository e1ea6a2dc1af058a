// Search page with results as you type: series, books, collections, read lists.
import { useRef } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useGet, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { BookCard, Card, SeriesCard } from '../lists/card.tsx'
import { minBookText } from '../lists/list-search.tsx'
import { Shelf, shelvesInOrder } from '../lists/shelf.tsx'
import { address, href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { useTitle } from '../ui/page-header.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { useDebounced } from '../ui/timing.ts'

const waitMs = 150
const page = { page: 1, pageSize: 20 }

export function View() {
  const { query } = address.value
  const text = useDebounced((query.get('q') ?? '').trim(), waitMs)
  useTitle(text ? t('search.titleOf', { text }) : t('search.title'))
  return (
    <div>
      <h1 class="visually-hidden">{t('search.title')}</h1>
      {text === '' ? (
        <EmptyState icon="search" title={t('search.start')} text={t('search.startText')} />
      ) : (
        <Results text={text} />
      )}
    </div>
  )
}

function Results({ text }: { text: string }) {
  const params = { query: page }
  const series = usePrevious(
    useResource(`search series ${text}`, signal => {
      const found = api.POST('/api/v1/series/search', { params, body: { query: text }, signal })
      return body(found) as Promise<Schemas['SeriesPage']>
    }),
  )
  const isLong = [...text].length >= minBookText
  const books = usePrevious(
    useResource(isLong ? `search books ${text}` : null, signal =>
      body(api.POST('/api/v1/books/list', { params, body: { fullTextSearch: text }, signal })),
    ),
  )
  const query = { ...page, search: text }
  const collections = usePrevious(
    useGet(can('CollectionsRead') ? '/api/v1/collections' : null, { query }),
  )
  const readLists = usePrevious(
    useGet(can('ReadListsRead') ? '/api/v1/readlists' : null, { query }),
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
                path={(books.data?.total ?? 0) > page.pageSize ? href(`books?q=${q}`) : undefined}
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

type Grouping = { id: string; name: string; seriesCount?: number | null; bookCount?: number }
type GroupingResultsProps = {
  owner: 'collections' | 'readlists'
  /** Undefined while loading. */
  items: readonly Grouping[] | undefined
}

/** Collections or read lists matching a search; nothing while they are loaded. */
function GroupingResults({ owner, items }: GroupingResultsProps) {
  if (!items) return null
  return (
    <Shelf<Grouping>
      title={t(owner === 'collections' ? 'nav.collections' : 'nav.readLists')}
      items={items}
      renderItem={({ id, name, seriesCount, bookCount }, tabIndex) => (
        <Card
          owner={owner}
          id={id}
          tabIndex={tabIndex}
          path={href(`${owner}/${id}`)}
          title={name}
          subtitle={
            seriesCount != null
              ? t('count.series', { count: seriesCount })
              : bookCount !== undefined
                ? t('count.books', { count: bookCount })
                : ''
          }
        />
      )}
    />
  )
}
