// Page of a library: its series, and what keeps it from being read.
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { href } from '../routing/router.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { PageHeader } from '../ui/page-header.ts'
import { showNotice } from '../ui/toast.ts'
import { LibraryNotices } from './library-notices.ts'
import { SeriesBrowser } from './series-browser.ts'

export function View({ params: { id } }: ViewProps) {
  return h(LibraryPage, { id: id!, key: id })
}

function LibraryPage({ id }: { id: string }) {
  const path = { id }
  const { data, error, reload } = useResource(`libraries/${id}`, signal =>
    body(api.GET('/api/v1/libraries/{id}', { params: { path }, signal })),
  )
  if (error && !data) return h(ErrorState, { error, onRetry: reload })
  const scan = async () => {
    await api.POST('/api/v1/libraries/{id}/scan', { params: { path, query: { mode: 'normal' } } })
    showNotice(t('libraries.scanStarted'))
  }
  const actions = can('LibrariesWrite') && [
    h(Button, { key: 'scan', icon: 'refresh', onClick: scan }, t('libraries.scan')),
    h(
      'a',
      { key: 'settings', class: 'button', href: href(`admin/libraries/${id}`) },
      h(Icon, { name: 'settings' }),
      t('libraries.settings'),
    ),
  ]
  return h(
    'div',
    null,
    h(PageHeader, {
      // A line each until it is loaded: what is below does not move.
      title: data?.name ?? '\u00a0',
      subtitle: data ? t('lists.books', { count: data.bookCount }) : '\u00a0',
      actions,
    }),
    data && h(LibraryNotices, { libraries: [data] }),
    h(SeriesBrowser, { libraryId: id, label: data?.name ?? t('nav.series') }),
  )
}
