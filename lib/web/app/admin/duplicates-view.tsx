// Duplicates: groups of identical files and similar series, to compare and dismiss.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address, setQuery } from '../routing/router.ts'
import { formatBytes, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'
import { FilePath, NameLink } from '../ui/name.tsx'
import { currentPage, Pagination } from '../ui/pagination.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { AdminFrame } from './admin-frame.tsx'
import { useTasks } from './task-list.tsx'

type Kind = 'books' | 'series'
const pageSize = 20

export function View() {
  const { query } = address.value
  const kind: Kind = query.get('kind') === 'series' ? 'series' : 'books'
  const search = useSearch()
  const KindGroups = kind === 'books' ? BookGroups : SeriesGroups
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
        <KindGroups key={kind} page={currentPage()} version={search.ended} />
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

type KindProps = { page: number; version: string }

function BookGroups({ page, version }: KindProps) {
  const groups = useResource(`duplicates:${version}:${page}`, signal =>
    body(api.GET('/api/v1/duplicates', { params: { query: { page, pageSize } }, signal })),
  )
  const describe = ({ id, books, fileHash, duplicateCount }: Schemas['BookDuplicateGroup']) => {
    const size = books[0]?.fileSize ?? 0
    const hash = fileHash.slice(0, 12)
    return {
      id,
      title: books[0]?.title ?? hash,
      reason: t('duplicates.equalFiles', { size: formatBytes(size), hash }),
      count: duplicateCount,
      // Redundant copies.
      saved: (duplicateCount - 1) * size,
      members: books.map(
        (book): Member => ({
          owner: 'books',
          id: book.id,
          title: book.title,
          facts: [book.seriesName, book.libraryName, t('count.pages', { count: book.pageCount })],
          path: book.path,
        }),
      ),
    }
  }
  const dismiss = (id: string) =>
    api.DELETE('/api/v1/duplicates/{id}', { params: { path: { id } } })
  return <Groups groups={groups} describe={describe} dismiss={dismiss} />
}

function SeriesGroups({ page, version }: KindProps) {
  const groups = useResource(`duplicate-series:${version}:${page}`, signal =>
    body(api.GET('/api/v1/duplicates/series', { params: { query: { page, pageSize } }, signal })),
  )
  const describe = ({ id, members, matchKey, ...group }: Schemas['SeriesDuplicateGroup']) => ({
    id,
    title: members[0]?.title ?? matchKey,
    reason: t(`duplicates.${group.matchType}`, { key: matchKey }),
    count: group.duplicateCount,
    saved: 0,
    members: members.map(
      (series): Member => ({
        owner: 'series',
        id: series.id,
        title: series.title,
        facts: [series.libraryName, t('count.books', { count: series.bookCount })],
        path: null,
      }),
    ),
  })
  const dismiss = (id: string) =>
    api.DELETE('/api/v1/duplicates/series/{id}', { params: { path: { id } } })
  return <Groups groups={groups} describe={describe} dismiss={dismiss} />
}

type Group = Omit<Parameters<typeof DuplicateGroup>[0], 'onDismiss'> & { id: string }
type GroupsProps<T> = {
  groups: Resource<{ data: T[]; totalPages: number }>
  describe: (group: T) => Group
  dismiss: (id: string) => Promise<unknown>
}

function Groups<T>({ groups: { data, error, reload }, describe, dismiss }: GroupsProps<T>) {
  if (error && !data) return <ErrorState error={error} onRetry={reload} />
  if (!data) return null
  if (data.data.length === 0)
    return <EmptyState icon="check" title={t('duplicates.none')} text={t('duplicates.noneText')} />
  const dismissOne = async (id: string) => {
    await dismiss(id)
    reload()
  }
  return (
    <>
      {data.data.map(describe).map(group => (
        <DuplicateGroup key={group.id} {...group} onDismiss={() => dismissOne(group.id)} />
      ))}
      <Pagination totalPages={data.totalPages} />
    </>
  )
}

type Member = {
  owner: 'books' | 'series'
  id: string
  title: string
  /** Series, library, number of pages or books. */
  facts: readonly string[]
  /** Relative to the library; null for series. */
  path: string | null
}

type DuplicateGroupProps = {
  title: string
  /** Why they are in one group. */
  reason: string
  count: number
  /** Size of all members except one, in bytes. */
  saved: number
  members: readonly Member[]
  onDismiss: () => Promise<void>
}

// Groups have up to a thousand members.
const shownAtFirst = 6

/** Its members side by side. */
function DuplicateGroup(props: DuplicateGroupProps) {
  const { title, reason, count, saved, members, onDismiss } = props
  const [isOpen, setOpen] = useState(false)
  const shown = isOpen ? members : members.slice(0, shownAtFirst)
  return (
    <section class="duplicate-group card">
      <header class="duplicate-header">
        <div>
          <h2>
            <bdi>{title}</bdi> <span class="badge">× {count}</span>
          </h2>
          <p class="secondary-text">
            {reason}
            {saved > 0 && ` · ${t('duplicates.saved', { size: formatBytes(saved) })}`}
          </p>
        </div>
        {can('BooksWrite') && (
          <Button class="small" onClick={onDismiss} title={t('duplicates.dismissHint')}>
            {t('duplicates.dismiss')}
          </Button>
        )}
      </header>
      <ul class="duplicate-members">
        {shown.map(member => (
          <MemberCard key={member.id} member={member} />
        ))}
      </ul>
      {members.length > shown.length && (
        <Button class="small" onClick={() => setOpen(true)}>
          {t('duplicates.showAll', { count: members.length })}
        </Button>
      )}
    </section>
  )
}

function MemberCard({ member: { owner, id, title, facts, path } }: { member: Member }) {
  return (
    <li class="duplicate-member">
      <div class="cover-box duplicate-cover">
        <Cover owner={owner} id={id} />
      </div>
      <div class="duplicate-text">
        <NameLink path={`${owner}/${id}`} name={title} />
        {facts.map(fact => (
          <bdi key={fact} class="secondary-text">
            {fact}
          </bdi>
        ))}
        {path !== null && <FilePath path={path} />}
      </div>
    </li>
  )
}
