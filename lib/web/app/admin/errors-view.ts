// Files that cannot be read: by reason, with an explanation and what can be done about it.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { useEvents } from '../api/use-events.ts'
import { address, href, setQuery } from '../routing/router.ts'
import { formatBytes, formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { Select } from '../ui/field.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { Pagination } from '../ui/pagination.ts'
import { showNotice } from '../ui/toast.ts'
import { AdminFrame } from './admin-frame.ts'
import { FilterLinks } from './filter-links.ts'
import { useLibraries } from './use-libraries.ts'
import { useSoon } from './use-tasks.ts'

type FailedBook = Schemas['FailedBook']
type ErrorType = FailedBook['errors'][number]['errorType']
type Group = { errorType: ErrorType; count: number; books: FailedBook[] }

const types: readonly ErrorType[] = [
  'bad_crc',
  'truncated',
  'not_an_archive',
  'encrypted',
  'multi_volume',
  'no_pages',
  'unsupported_format',
  'unsupported_image',
  'unsupported_method',
  'too_large',
  'memory',
  'timeout',
  'io',
  'thumbnail',
  'internal',
]
const pageSize = 50
const reloadMs = 1_500

export function View() {
  const { query } = address.value
  const errorType = types.find(name => name === query.get('type'))
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
  const present = types.filter(type => (counts[type] ?? 0) > 0 || type === errorType)
  const onPage = Map.groupBy(data?.data ?? [], ({ errors }) => errors[0]!.errorType)
  const groups = [...onPage].map(
    ([errorType, books]): Group => ({ errorType, books, count: counts[errorType] ?? books.length }),
  )
  const isFiltered = errorType !== undefined || libraryId !== undefined
  return h(
    AdminFrame,
    {
      title: t('admin.errors'),
      subtitle: data && total > 0 ? t('errors.count', { count: total }) : undefined,
      actions: total > 0 && h(RetryAll, { errorType, libraryId }),
    },
    present.length > 0 &&
      h(FilterLinks<ErrorType>, {
        label: t('errors.reason'),
        name: 'type',
        selected: errorType,
        all: { count: total },
        options: present.map(value => ({
          value,
          text: t(`errors.${value}`),
          count: counts[value] ?? 0,
        })),
      }),
    data &&
      (libraries.data?.length ?? 0) > 1 &&
      h(
        'div',
        { class: 'admin-filters' },
        h(Select<string>, {
          label: t('library.label'),
          value: libraryId ?? '',
          options: [
            { value: '', text: t('filter.all') },
            ...(libraries.data ?? []).map(({ id, name }) => ({ value: id, text: name })),
          ],
          onChange: library => setQuery({ library: library || null, type: null, page: null }),
        }),
      ),
    error && !data && h(ErrorState, { error, onRetry: reload }),
    data?.data.length === 0 &&
      h(EmptyState, {
        icon: 'check',
        title: t('errors.none'),
        text: t(isFiltered ? 'errors.noneFiltered' : 'errors.noneText'),
      }),
    groups.map(group => h(ErrorGroup, { group, libraryId, key: group.errorType })),
    data &&
      h(Pagination, {
        page,
        totalPages: data.totalPages,
        onChange: page => setQuery({ page: page === 1 ? null : String(page) }),
      }),
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
  return h(Button, { icon: 'refresh', onClick: retry }, t(text))
}

function ErrorGroup({ group, libraryId }: { group: Group; libraryId: string | undefined }) {
  const { errorType, count, books } = group
  return h(
    'section',
    { class: 'error-group card' },
    h(
      'header',
      { class: 'error-group-header' },
      h('h2', null, t(`errors.${errorType}`)),
      h('span', { class: 'badge danger' }, t('scan.files', { count })),
      h(RetryAll, { errorType, libraryId }),
    ),
    h('p', null, t(`errors.${errorType}.what`)),
    h(
      'p',
      { class: 'error-advice' },
      h(Icon, { name: 'arrowRight', size: 16 }),
      t(`errors.${errorType}.advice`),
    ),
    h(
      'ul',
      { class: 'error-files' },
      books.map(({ book, errors }) => h(FailedFile, { book, errors, key: book.id })),
    ),
  )
}

function FailedFile({ book, errors }: FailedBook) {
  const retry = async () => {
    await api.POST('/api/v1/books/{id}/retry', { params: { path: { id: book.id } } })
    showNotice(t('errors.retrying'))
  }
  const [latest] = errors
  return h(
    'li',
    { class: 'error-file' },
    h(
      'div',
      { class: 'error-file-text' },
      h('a', { href: href(`books/${book.id}`) }, h('bdi', null, book.title)),
      h('code', { class: 'file-path', dir: 'ltr' }, book.path),
      h(
        'span',
        { class: 'secondary-text' },
        h('bdi', null, book.libraryName),
        ` · ${formatBytes(book.fileSize)}`,
        latest && ` · ${formatRelative(latest.occurredAt)} · ${latest.message}`,
      ),
    ),
    can('BooksWrite') && h(Button, { class: 'small', onClick: retry }, t('task.retry')),
  )
}
