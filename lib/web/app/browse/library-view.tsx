// Library page: its series and its problems.
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { href } from '../routing/router.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Icon } from '../ui/icon.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { showNotice } from '../ui/toast.tsx'
import { LibraryNotices } from './library-notices.tsx'
import { SeriesBrowser } from './series-browser.tsx'

export function View({ params: { id } }: ViewProps) {
  return <LibraryPage key={id} id={id!} />
}

function LibraryPage({ id }: { id: string }) {
  const path = { id }
  const { data, error, reload } = useResource(`libraries/${id}`, signal =>
    body(api.GET('/api/v1/libraries/{id}', { params: { path }, signal })),
  )
  if (error && !data) return <ErrorState error={error} onRetry={reload} />
  const scan = async () => {
    await api.POST('/api/v1/libraries/{id}/scan', { params: { path, query: { mode: 'normal' } } })
    showNotice(t('libraries.scanStarted'))
  }
  const actions = can('LibrariesWrite') && [
    <Button key="scan" icon="refresh" onClick={scan}>
      {t('scan.start')}
    </Button>,
    <a key="settings" class="button" href={href(`admin/libraries/${id}`)}>
      <Icon name="settings" />
      {t('admin.settings')}
    </a>,
  ]
  return (
    <div>
      <PageHeader
        // One line until it is loaded, so that nothing below moves.
        title={data?.name ?? '\u00a0'}
        subtitle={data ? t('count.books', { count: data.bookCount }) : '\u00a0'}
        actions={actions}
      />
      {data && <LibraryNotices libraries={[data]} />}
      <SeriesBrowser libraryId={id} label={data?.name ?? t('label.series')} />
    </div>
  )
}
