// Library page: its series and its problems.
import { api } from '../api/client.ts'
import { useGet } from '../api/resource.ts'
import { can } from '../api/session.ts'
import type { ViewProps } from '../routing/load-view.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { LibraryNotices } from './library-notices.tsx'
import { ListBrowser } from './list-browser.tsx'

export function View({ params: { id = '' } }: ViewProps) {
  const path = { id }
  const { data, error, reload } = useGet('/api/v1/libraries/{id}', { path })
  if (error && !data) return <ErrorState error={error} onRetry={reload} />
  const scan = async () => {
    await api.POST('/api/v1/libraries/{id}/scan', { params: { path, query: { mode: 'normal' } } })
    showNotice(t('libraries.scanStarted'))
  }
  const actions = can('LibrariesWrite') && [
    <Button key="scan" icon="refresh" text={t('scan.start')} onClick={scan} />,
    <ButtonLink
      key="settings"
      path={`admin/libraries/${id}`}
      icon="settings"
      text={t('admin.settings')}
    />,
  ]
  return (
    <div>
      <PageHeader
        // One line until it is loaded, so that nothing below moves.
        title={data?.name ?? '\u00a0'}
        subtitle={
          data ? (
            <a href={href(`books?library=${id}`)}>{t('count.books', { count: data.bookCount })}</a>
          ) : (
            '\u00a0'
          )
        }
        actions={actions}
      />
      {data && <LibraryNotices libraries={[data]} />}
      <ListBrowser kind="series" libraryId={id} label={data?.name ?? t('label.series')} />
    </div>
  )
}
