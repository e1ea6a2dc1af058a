// Empty state of a library or server without series.
import { can } from '../api/session.ts'
import { useLibraries } from '../api/use-libraries.ts'
import { t } from '../text/translate.ts'
import { ButtonLink } from '../ui/button.tsx'
import { EmptyState } from '../ui/state.tsx'

/** `libraryId`: null for all libraries. */
export function NoSeries({ libraryId }: { libraryId: string | null }) {
  const libraries = useLibraries().data
  if (!libraries) return null
  const isAdministrator = can('LibrariesWrite')
  if (libraries.length === 0)
    return (
      <EmptyState
        icon="library"
        title={t('home.noLibraries')}
        text={t(isAdministrator ? 'home.noLibrariesAdmin' : 'home.noLibrariesReader')}
        action={
          isAdministrator && (
            <ButtonLink path="admin/libraries" class="primary" text={t('home.addLibrary')} />
          )
        }
      />
    )
  const isScanned = libraries
    .filter(({ id }) => libraryId === null || id === libraryId)
    .some(({ lastScannedAt }) => lastScannedAt !== null)
  return (
    <EmptyState
      icon="library"
      title={t('browse.empty')}
      text={t(isScanned ? 'browse.emptyScanned' : 'browse.emptyUnscanned')}
      action={
        isAdministrator && (
          <ButtonLink
            path={`admin/libraries${libraryId === null ? '' : `/${libraryId}`}`}
            text={t('browse.openSettings')}
          />
        )
      }
    />
  )
}
