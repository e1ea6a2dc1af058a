// Page with all libraries.
import type { Schemas } from '../api/client.ts'
import { useLibraries } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { href } from '../routing/router.ts'
import { formatRelative, t } from '../text/translate.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState } from '../ui/state.tsx'
import { LibraryNotices, NoSeries } from './library-notices.tsx'

export function View() {
  const { data: libraries, error, reload } = useLibraries()
  useReloadOnEvents(event => /^(?:library|series|book)_/.test(event.type), reload)
  return (
    <div>
      <PageHeader
        title={t('nav.libraries')}
        actions={
          can('LibrariesWrite') && (
            <ButtonLink path="admin/libraries" icon="settings" text={t('libraries.manage')} />
          )
        }
      />
      {error && !libraries && <ErrorState error={error} onRetry={reload} />}
      {libraries && <LibraryNotices libraries={libraries} />}
      {libraries?.length === 0 && <NoSeries libraryId={null} />}
      {libraries && (
        <ul class="browse-libraries">
          {libraries.map(library => (
            <li key={library.id}>
              <LibraryCard library={library} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function LibraryCard({ library }: { library: Schemas['Library'] }) {
  const { id, name, seriesCount, bookCount, lastScannedAt, isResponding } = library
  return (
    <a class="card browse-library" href={href(`libraries/${id}`)}>
      <span class="cover-box browse-library-cover">
        <Cover owner="libraries" id={id} />
      </span>
      <span class="browse-library-text">
        <strong dir="auto">{name}</strong>
        <span>{t('count.series', { count: seriesCount })}</span>
        <span>{t('count.books', { count: bookCount })}</span>
        <span class="secondary-text">
          {lastScannedAt
            ? t('libraries.scanned', { time: formatRelative(lastScannedAt) })
            : t('libraries.notScanned')}
        </span>
        {!isResponding && <span class="badge danger">{t('health.unavailable')}</span>}
      </span>
    </a>
  )
}
