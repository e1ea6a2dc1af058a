// Duplicates: groups of identical files and similar series, to compare and dismiss.
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address, setQuery } from '../routing/router.ts'
import { formatBytes, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { AdminFrame } from './admin-frame.tsx'
import { DuplicateGroup, type Member } from './duplicate-group.tsx'
import { useTasks } from './use-tasks.ts'

type Kind = 'books' | 'series'
const pageSize = 20

export function View() {
  const { query } = address.value
  const kind: Kind = query.get('kind') === 'series' ? 'series' : 'books'
  const page = Math.max(1, Number(query.get('page')) || 1)
  const search = useSearch()
  const Groups = kind === 'books' ? BookGroups : SeriesGroups
  return (
    <AdminFrame
      title={t('admin.duplicates')}
      subtitle={t('duplicates.hint')}
      actions={can('BooksWrite') && <SearchButton {...search} />}
    >
      <Tabs<Kind>
        label={t('admin.duplicates')}
        tabs={[
          { name: 'books', text: t('label.books') },
          { name: 'series', text: t('label.series') },
        ]}
        selected={kind}
        onSelect={name => setQuery({ kind: name === 'books' ? null : name, page: null })}
        // The groups of the last search.
      >
        <Groups key={kind} page={page} version={search.ended} />
      </Tabs>
    </AdminFrame>
  )
}

type Search = { isRunning: boolean; ended: string; reload: () => void }

/** The latest search; scans start one, too. */
function useSearch(): Search {
  const { data, reload } = useTasks({ type: 'find_duplicates' }, 1, { pageSize: 5 })
  const tasks = data?.data ?? []
  const isRunning = tasks.some(({ status, scheduledFor }) => {
    return status === 'running' || (status === 'pending' && Date.parse(scheduledFor) <= Date.now())
  })
  const ended = tasks.find(({ status }) => status === 'completed')?.completedAt ?? ''
  return { isRunning, ended, reload }
}

function SearchButton({ isRunning, reload }: Search) {
  const start = async () => {
    await api.POST('/api/v1/duplicates/scan')
    reload()
  }
  return (
    <Button icon="search" onClick={start} disabled={isRunning} aria-live="polite">
      {t(isRunning ? 'duplicates.searching' : 'duplicates.search')}
    </Button>
  )
}

type GroupsProps = { page: number; version: string }

function BookGroups({ page, version }: GroupsProps) {
  const query = { page, pageSize }
  const { data, error, reload } = useResource(`duplicates:${version}:${page}`, signal =>
    body(api.GET('/api/v1/duplicates', { params: { query }, signal })),
  )
  const dismiss = async (id: string) => {
    await api.DELETE('/api/v1/duplicates/{id}', { params: { path: { id } } })
    reload()
  }
  if (error && !data) return <ErrorState error={error} onRetry={reload} />
  if (!data) return null
  const groups = data.data.map(group => ({
    id: group.id,
    title: group.books[0]?.title ?? group.fileHash.slice(0, 12),
    reason: t('duplicates.equalFiles', {
      size: formatBytes(group.books[0]?.fileSize ?? 0),
      hash: group.fileHash.slice(0, 12),
    }),
    count: group.duplicateCount,
    // Redundant copies.
    saved: (group.duplicateCount - 1) * (group.books[0]?.fileSize ?? 0),
    members: group.books.map(
      (book): Member => ({
        owner: 'books',
        id: book.id,
        title: book.title,
        facts: [book.seriesName, book.libraryName, t('count.pages', { count: book.pageCount })],
        path: book.path,
      }),
    ),
  }))
  return <GroupList groups={groups} page={page} totalPages={data.totalPages} onDismiss={dismiss} />
}

function SeriesGroups({ page, version }: GroupsProps) {
  const query = { page, pageSize }
  const { data, error, reload } = useResource(`duplicate-series:${version}:${page}`, signal =>
    body(api.GET('/api/v1/duplicates/series', { params: { query }, signal })),
  )
  const dismiss = async (id: string) => {
    await api.DELETE('/api/v1/duplicates/series/{id}', { params: { path: { id } } })
    reload()
  }
  if (error && !data) return <ErrorState error={error} onRetry={reload} />
  if (!data) return null
  const groups = data.data.map(group => ({
    id: group.id,
    title: group.members[0]?.title ?? group.matchKey,
    reason: t(`duplicates.${group.matchType}`, { key: group.matchKey }),
    count: group.duplicateCount,
    saved: 0,
    members: group.members.map(
      (series): Member => ({
        owner: 'series',
        id: series.id,
        title: series.title,
        facts: [series.libraryName, t('count.books', { count: series.bookCount })],
        path: null,
      }),
    ),
  }))
  return <GroupList groups={groups} page={page} totalPages={data.totalPages} onDismiss={dismiss} />
}

type Group = Omit<Parameters<typeof DuplicateGroup>[0], 'onDismiss'> & { id: string }
type GroupListProps = {
  groups: readonly Group[]
  page: number
  totalPages: number
  onDismiss: (id: string) => Promise<void>
}

function GroupList({ groups, page, totalPages, onDismiss }: GroupListProps) {
  if (groups.length === 0)
    return <EmptyState icon="check" title={t('duplicates.none')} text={t('duplicates.noneText')} />
  return (
    <>
      {groups.map(group => (
        <DuplicateGroup key={group.id} {...group} onDismiss={() => onDismiss(group.id)} />
      ))}
      <Pagination
        page={page}
        totalPages={totalPages}
        onChange={page => setQuery({ page: page === 1 ? null : String(page) })}
      />
    </>
  )
}
