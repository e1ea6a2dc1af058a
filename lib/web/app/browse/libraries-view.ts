// Page with all libraries.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { href } from '../routing/router.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Cover } from '../ui/cover.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { PageHeader } from '../ui/page-header.ts'
import { LibraryNotices } from './library-notices.ts'
import { NoSeries } from './no-series.ts'

export function View() {
  const { data, error, reload } = useResource('libraries', signal =>
    body(api.GET('/api/v1/libraries', { params: { query: { page: 1, pageSize: 500 } }, signal })),
  )
  useReloadOnEvents(event => /^(?:library|series|book)_/.test(event.type), reload)
  const libraries = data?.data
  return h(
    'div',
    null,
    h(PageHeader, {
      title: t('nav.libraries'),
      actions:
        can('LibrariesWrite') &&
        h(
          'a',
          { class: 'button', href: href('admin/libraries') },
          h(Icon, { name: 'settings' }),
          t('libraries.manage'),
        ),
    }),
    error && !data && h(ErrorState, { error, onRetry: reload }),
    libraries && h(LibraryNotices, { libraries }),
    libraries?.length === 0 && h(NoSeries, { libraryId: null }),
    libraries &&
      h(
        'ul',
        { class: 'browse-libraries' },
        libraries.map(library => h('li', { key: library.id }, h(LibraryCard, { library }))),
      ),
  )
}

function LibraryCard({ library }: { library: Schemas['Library'] }) {
  const { id, name, seriesCount, bookCount, lastScannedAt, isResponding } = library
  return h(
    'a',
    { class: 'card browse-library', href: href(`libraries/${id}`) },
    h('span', { class: 'browse-library-cover' }, h(Cover, { owner: 'libraries', id })),
    h(
      'span',
      { class: 'browse-library-text' },
      h('strong', { dir: 'auto' }, name),
      h('span', null, t('browse.seriesCount', { count: seriesCount })),
      h('span', null, t('lists.books', { count: bookCount })),
      h(
        'span',
        { class: 'secondary-text' },
        lastScannedAt
          ? t('libraries.scanned', { time: formatRelative(lastScannedAt) })
          : t('libraries.notScanned'),
      ),
      !isResponding && h('span', { class: 'badge danger' }, t('libraries.notResponding')),
    ),
  )
}
