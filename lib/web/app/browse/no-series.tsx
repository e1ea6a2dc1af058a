// Empty state of a library or server without series.
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { EmptyState } from '../ui/empty-state.tsx'

/** `libraryId`: null for all libraries. */
export function NoSeries({ libraryId }: { libraryId: string | null }) {
  const libraries = useResource('libraries', signal =>
    body(api.GET('/api/v1/libraries', { params: { query: { page: 1, pageSize: 500 } }, signal })),
  )
  if (!libraries.data) return null
  const isAdministrator = can('LibrariesWrite')
  if (libraries.data.total === 0)
    return (
      <EmptyState
        icon="library"
        title={t('home.noLibraries')}
        text={t(isAdministrator ? 'home.noLibrariesAdmin' : 'home.noLibrariesReader')}
        action={
          isAdministrator ? (
            <a class="button primary" href={href('admin/libraries')}>
              {t('home.addLibrary')}
            </a>
          ) : undefined
        }
      />
    )
  const isScanned = libraries.data.data
    .filter(({ id }) => libraryId === null || id === libraryId)
    .some(({ lastScannedAt }) => lastScannedAt !== null)
  return (
    <EmptyState
      icon="library"
      title={t('browse.empty')}
      text={t(isScanned ? 'browse.emptyScanned' : 'browse.emptyUnscanned')}
      action={
        isAdministrator ? (
          <a
            class="button"
            href={href(libraryId === null ? 'admin/libraries' : `admin/libraries/${libraryId}`)}
          >
            {t('browse.openSettings')}
          </a>
        ) : undefined
      }
    />
  )
}
