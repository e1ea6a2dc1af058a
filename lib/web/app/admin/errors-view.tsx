// Files that cannot be read: by reason, with an explanation and what can be done about it.

import { api, body, type Schemas } from '../api/client.ts'
import { bookErrorTypes } from '../api/enumerations.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { useEvents } from '../api/use-events.ts'
import { address, href, setQuery } from '../routing/router.ts'
import { formatBytes, formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Select } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { showNotice } from '../ui/toast.tsx'
import { AdminFrame } from './admin-frame.tsx'
import { FilterLinks } from './filter-links.tsx'
import { useLibraries } from './use-libraries.ts'
import { useSoon } from './use-tasks.ts'

type FailedBook = Schemas['FailedBook']
type ErrorType = FailedBook['errors'][number]['errorType']
type Group = { errorType: ErrorType; count: number; books: FailedBook[] }

const pageSize = 50
const reloadMs = 1_500

export function View() {
  const { query } = address.value
  const errorType = bookErrorTypes.find(name => name === query.get('type'))
  const libraryId = query.get('library') ?? undefined
  const page = Math.max(1, Number(query.get('page')) || 1)
  const request = { errorType, libraryId, page, pageSize }
  const { data, error, reload } = useResource(`errors:${JSON.stringify(request)}`, signal =>
    body(api.GET('/api/v1/books/errors', { params: { query: request }, signal })),
  )
  const reloadSoon = useSoon(reloadMs, reload)
  useEvents('events', event => {
    if (event.type === 'resync') reload()
    else if (event.type.startsWith('book_')) reloadSoon()
  })
  const libraries = useLibraries()
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
      {data && (libraries.data?.length ?? 0) > 1 && (
        <div class="admin-filters">
          <Select<string>
            label={t('field.libraryId')}
            value={libraryId ?? ''}
            options={[
              { value: '', text: t('filter.all') },
              ...(libraries.data ?? []).map(({ id, name }) => ({ value: id, text: name })),
            ]}
            onChange={library => setQuery({ library: library || null, type: null, page: null })}
          />
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
      {data && (
        <Pagination
          page={page}
          totalPages={data.totalPages}
          onChange={page => setQuery({ page: page === 1 ? null : String(page) })}
        />
      )}
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
  const text = errorType ? 'errors.retryGroup' : 'errors.retryAll'
  return (
    <Button icon="refresh" onClick={retry}>
      {t(text)}
    </Button>
  )
}

function ErrorGroup({ group, libraryId }: { group: Group; libraryId: string | undefined }) {
  const { errorType, count, books } = group
  return (
    <section class="error-group card">
      <header class="error-group-header">
        <h2>{t(`errors.${errorType}`)}</h2>
        <span class="badge danger">{t('count.files', { count })}</span>
        <RetryAll errorType={errorType} libraryId={libraryId} />
      </header>
      <p>{t(`errors.${errorType}.what`)}</p>
      <p class="error-advice">
        <Icon name="arrowRight" size={16} />
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
        <a href={href(`books/${book.id}`)}>
          <bdi>{book.title}</bdi>
        </a>
        <code class="file-path" dir="ltr">
          {book.path}
        </code>
        <span class="secondary-text">
          <bdi>{book.libraryName}</bdi>
          {` · ${formatBytes(book.fileSize)}`}
          {latest && ` · ${formatRelative(latest.occurredAt)} · ${latest.message}`}
        </span>
      </div>
      {can('BooksWrite') && (
        <Button class="small" onClick={retry}>
          {t('task.retry')}
        </Button>
      )}
    </li>
  )
}
