// Releases of one series on its page: following it, what is announced, and how far the library is behind.
import { useState } from 'preact/hooks'
import { api } from '../api/client.ts'
import { useGet } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { contentOf, ReleaseLine } from './release-line.tsx'
import { TrackingDialog } from './tracking-dialog.tsx'

const shown = 5

/** Renders nothing if no source announces releases, unless the account follows the series. */
export function SeriesReleases({ seriesId }: { seriesId: string }) {
  const path = { id: seriesId }
  const [isOpen, setOpen] = useState(false)
  const sources = useGet('/api/v1/release-sources/applicability')
  const tracking = useGet('/api/v1/series/{id}/tracking', { path })
  const isFollowed = tracking.data?.isFollowed ?? false
  const isShown = tracking.data && (sources.data?.applicable || isFollowed)
  const list = useGet(isShown ? '/api/v1/series/{id}/releases' : null, {
    path,
    query: { state: 'announced', pageSize: shown },
  })
  useReloadOnEvents(
    ({ type, seriesId: changed }) => type === 'release_announced' && changed === seriesId,
    () => list.reload(),
  )
  // The newest come first, so the next to read is the last.
  const last = useGet(
    list.data && list.data.total > shown ? '/api/v1/series/{id}/releases' : null,
    {
      path,
      query: { state: 'announced', pageSize: 1, page: list.data?.total ?? 1 },
    },
  )
  const next = (last.data ?? list.data)?.data.at(-1)
  if (!isShown) return null
  const toggle = async () => {
    if (isFollowed) await api.DELETE('/api/v1/series/{id}/follow', { params: { path } })
    else await api.PUT('/api/v1/series/{id}/follow', { params: { path } })
    tracking.reload()
  }
  const total = list.data?.total ?? 0
  return (
    <section class="series-releases" aria-label={t('nav.releases')}>
      <div class="row">
        {(can('ProgressWrite') || can('BooksWrite')) && (
          <Button
            icon={isFollowed ? 'check' : 'release'}
            text={t(isFollowed ? 'releases.followed' : 'releases.follow')}
            aria-pressed={isFollowed}
            onClick={toggle}
          />
        )}
        {can('SeriesWrite') && (
          <Button icon="settings" text={t('tracking.title')} onClick={() => setOpen(true)} />
        )}
      </div>
      {isOpen && (
        <TrackingDialog
          seriesId={seriesId}
          onChanged={() => {
            tracking.reload()
            list.reload()
          }}
          onClose={() => setOpen(false)}
        />
      )}
      {total > 0 && (
        <>
          <p>{t('releases.behind', { count: total })}</p>
          {next && <p>{t('releases.next', { release: contentOf(next) })}</p>}
          <ul>
            {list.data?.data.map(release => (
              <ReleaseLine key={release.id} release={release} actions={null} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
