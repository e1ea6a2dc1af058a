// Page with all libraries.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { href } from '../routing/router.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Cover } from '../ui/cover.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Icon } from '../ui/icon.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { LibraryNotices } from './library-notices.tsx'
import { NoSeries } from './no-series.tsx'

export function View() {
  const { data, error, reload } = useResource('libraries', signal =>
    body(api.GET('/api/v1/libraries', { params: { query: { page: 1, pageSize: 500 } }, signal })),
  )
  useReloadOnEvents(event => /^(?:library|series|book)_/.test(event.type), reload)
  const libraries = data?.data
  return (
    <div>
      <PageHeader
        title={t('nav.libraries')}
        actions={
          can('LibrariesWrite') && (
            <a class="button" href={href('admin/libraries')}>
              <Icon name="settings" />
              {t('libraries.manage')}
            </a>
          )
        }
      />
      {error && !data && <ErrorState error={error} onRetry={reload} />}
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
      <span class="browse-library-cover">
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
