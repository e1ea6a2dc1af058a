// Inbox of releases: what was announced of the series that the account follows, by series.
import { useEffect } from 'preact/hooks'
import { api, type Schemas } from '../api/client.ts'
import { useGet } from '../api/resource.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, ButtonLink, IconButton } from '../ui/button.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { currentPage, Pagination } from '../ui/pagination.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { ReleaseLine } from './release-line.tsx'

type Release = Schemas['Release']
type MarkAction = Schemas['ReleaseMarks']['action']

const pageSize = 100

export function View() {
  const inbox = useGet('/api/v1/releases/inbox')
  const list = useGet('/api/v1/releases', {
    query: { followed: true, sort: 'series', page: currentPage(), pageSize },
  })
  const reload = () => {
    list.reload()
    inbox.reload()
  }
  useReloadOnEvents(({ type }) => type === 'release_announced', reload)
  const releases = list.data?.data ?? []
  useSeen(releases)
  const dismiss = async (ids: string[]) => {
    await mark(ids, 'dismiss')
    reload()
    const undo = async () => {
      await mark(ids, 'restore')
      reload()
    }
    showNotice(t('releases.dismissed', { count: ids.length }), {
      text: t('organize.undo'),
      run: undo,
    })
  }
  const { followed = 0 } = inbox.data ?? {}
  return (
    <div class="releases-page">
      <PageHeader
        title={t('nav.releases')}
        subtitle={followed > 0 ? t('releases.following', { count: followed }) : undefined}
      />
      {list.error && !list.data && <ErrorState error={list.error} onRetry={list.reload} />}
      {list.data?.total === 0 && inbox.data && (
        <EmptyState
          icon="release"
          title={t('releases.none')}
          text={t(followed > 0 ? 'releases.noneText' : 'releases.followText')}
          action={followed === 0 && <ButtonLink path="series" text={t('wanted.browse')} />}
        />
      )}
      {bySeries(releases).map(group => (
        <SeriesGroup key={group.seriesId} group={group} onDismiss={dismiss} />
      ))}
      <Pagination totalPages={list.data?.totalPages} />
    </div>
  )
}

type GroupProps = { group: Group; onDismiss: (ids: string[]) => Promise<void> }

const SeriesGroup = ({ group: { seriesId, title, releases }, onDismiss }: GroupProps) => (
  <section class="card release-group">
    <header>
      <h2>
        <a href={href(`series/${seriesId}`)}>{title}</a>
      </h2>
      <Button
        variant="quiet"
        text={t('releases.dismissAll')}
        aria-label={t('releases.dismissAllOf', { title })}
        onClick={() => onDismiss(releases.map(({ id }) => id))}
      />
    </header>
    <ul>
      {releases.map(release => (
        <ReleaseLine
          key={release.id}
          release={release}
          actions={
            <IconButton
              icon="close"
              label={t('duplicates.dismiss')}
              onClick={() => onDismiss([release.id])}
            />
          }
        />
      ))}
    </ul>
  </section>
)

const mark = (ids: string[], action: MarkAction) =>
  api.POST('/api/v1/releases/inbox', { body: { ids, action } })

/** Marks what is shown as seen; the badges stay until the page is opened again. */
function useSeen(releases: readonly Release[]) {
  const ids = releases.filter(({ isSeen }) => !isSeen).map(({ id }) => id)
  useEffect(() => {
    if (ids.length > 0) void mark(ids, 'see').catch(() => {})
  }, [ids.join()])
}

type Group = { seriesId: string; title: string; releases: Release[] }

/** Runs of releases of one series, in the order of the list. */
function bySeries(releases: readonly Release[]): Group[] {
  const groups: Group[] = []
  for (const release of releases) {
    const { seriesId, seriesTitle: title } = release
    const last = groups.at(-1)
    if (last?.seriesId === seriesId) last.releases.push(release)
    else groups.push({ seriesId, title, releases: [release] })
  }
  return groups
}
