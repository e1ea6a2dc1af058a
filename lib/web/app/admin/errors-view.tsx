// Files that cannot be read: by reason, with an explanation and what can be done about it.
import { api, type Schemas } from '../api/client.ts'
import { bookErrorTypes } from '../api/enumerations.ts'
import { useEvents } from '../api/events.ts'
import { useGet, useLibraries } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address } from '../routing/router.ts'
import { formatBytes, formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { FilePath, NameLink } from '../ui/name.tsx'
import { currentPage, Pagination } from '../ui/pagination.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { useSoon } from '../ui/timing.ts'
import { showNotice } from '../ui/toast.tsx'
import { AdminFrame } from './admin-frame.tsx'
import { FilterLinks, LibraryFilter } from './filter-links.tsx'

type FailedBook = Schemas['FailedBook']
type ErrorType = FailedBook['errors'][number]['errorType']
type Group = { errorType: ErrorType; count: number; books: FailedBook[] }

const reloadMs = 1_500

export function View() {
  const { query } = address.value
  const errorType = bookErrorTypes.find(name => name === query.get('type'))
  const libraryId = query.get('library') ?? undefined
  const request = { errorType, libraryId, page: currentPage(), pageSize: 50 }
  const { data, error, reload } = useGet('/api/v1/books/errors', { query: request })
  const reloadSoon = useSoon(reloadMs, reload)
  useEvents('events', event => {
    if (event.type === 'resync') reload()
    else if (event.type.startsWith('book_')) reloadSoon()
  })
  const libraries = useLibraries().data ?? []
  const counts = (data?.errorCounts ?? {}) as Partial<Record<ErrorType, number>>
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const present = bookErrorTypes.filter(type => (counts[type] ?? 0) > 0 || type === errorType)
  const onPage = Map.groupBy(data?.data ?? [], ({ errors }) => errors[0]!.errorType)
  const groups = [...onPage].map(
    ([errorType, books]): Group => ({ errorType, books, count: counts[errorType] ?? books.length }),
  )
  const isFiltered = errorType !== undefined || libraryId !== undefined
  return (
    <AdminFrame
      title={t('admin.errors')}
      subtitle={data && total > 0 ? t('errors.count', { count: total }) : undefined}
      actions={total > 0 && <RetryAll errorType={errorType} libraryId={libraryId} />}
    >
      {present.length > 0 && (
        <FilterLinks<ErrorType>
          label={t('errors.reason')}
          name="type"
          selected={errorType}
          all={{ count: total }}
          options={present.map(value => ({
            value,
            text: t(`errors.${value}`),
            count: counts[value] ?? 0,
          }))}
        />
      )}
      {data && libraries.length > 1 && (
        <div class="admin-filters">
          <LibraryFilter libraries={libraries} selected={libraryId} removes={['type']} />
        </div>
      )}
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data?.data.length === 0 && (
        <EmptyState
          icon="check"
          title={t('errors.none')}
          text={t(isFiltered ? 'errors.noneFiltered' : 'errors.noneText')}
        />
      )}
      {groups.map(group => (
        <ErrorGroup key={group.errorType} group={group} libraryId={libraryId} />
      ))}
      <Pagination totalPages={data?.totalPages} />
    </AdminFrame>
  )
}

type Scope = { errorType: ErrorType | undefined; libraryId: string | undefined }

function RetryAll({ errorType, libraryId }: Scope) {
  if (!can('BooksWrite')) return null
  const retry = async () => {
    const request = { errorType, libraryId }
    await api.POST('/api/v1/books/retry-all-errors', { body: request })
    showNotice(t('errors.retrying'))
  }
  const text = t(errorType ? 'errors.retryGroup' : 'errors.retryAll')
  return <Button icon="refresh" text={text} onClick={retry} />
}

function ErrorGroup({ group, libraryId }: { group: Group; libraryId: string | undefined }) {
  const { errorType, count, books } = group
  return (
    <section class="error-group card">
      <header class="row error-group-header">
        <h2>{t(`errors.${errorType}`)}</h2>
        <span class="badge danger">{t('count.files', { count })}</span>
        <RetryAll errorType={errorType} libraryId={libraryId} />
      </header>
      <p>{t(`errors.${errorType}.what`)}</p>
      <p class="error-advice">
        <Icon name="arrowRight" size={16} isDirectional />
        {t(`errors.${errorType}.advice`)}
      </p>
      <ul class="error-files">
        {books.map(({ book, errors }) => (
          <FailedFile key={book.id} book={book} errors={errors} />
        ))}
      </ul>
    </section>
  )
}

function FailedFile({ book, errors }: FailedBook) {
  const retry = async () => {
    await api.POST('/api/v1/books/{id}/retry', { params: { path: { id: book.id } } })
    showNotice(t('errors.retrying'))
  }
  const [latest] = errors
  return (
    <li class="error-file">
      <div class="error-file-text">
        <NameLink path={`books/${book.id}`} name={book.title} />
        <FilePath path={book.path} />
        <span class="secondary-text">
          <bdi>{book.libraryName}</bdi>
          {` · ${formatBytes(book.fileSize)}`}
          {latest && ` · ${formatRelative(latest.occurredAt)} · ${latest.message}`}
        </span>
      </div>
      {can('BooksWrite') && <Button class="small" text={t('task.retry')} onClick={retry} />}
    </li>
  )
}
