// Menu of a series: what its readers and editors can do with it.

import { mediaUrl } from '../api/address.ts'
import type { Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { addTo, chooseCover, editMetadata, findMetadata, setRead } from '../organise/actions.ts'
import { t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { Menu } from '../ui/menu.ts'
import { MenuButton } from './menu-button.ts'

type SeriesMenuProps = { series: Schemas['SeriesFull']; onChange: () => void }

export function SeriesMenu({ series, onChange }: SeriesMenuProps) {
  const { id, title, bookCount, unreadCount, readCount } = series
  const subject = { seriesIds: [id] }
  const canRead = can('ProgressWrite')
  const canEdit = can('SeriesWrite')
  return h(
    Menu,
    { label: t('action.more'), trigger: h(Icon, { name: 'more' }) },
    canRead &&
      unreadCount > 0 &&
      h(MenuButton, {
        icon: 'check',
        text: t('action.markRead'),
        onClick: () => setRead(subject, true).then(onChange),
      }),
    canRead &&
      readCount > 0 &&
      h(MenuButton, {
        icon: 'refresh',
        text: t('action.markUnread'),
        onClick: () => setRead(subject, false).then(onChange),
      }),
    can('CollectionsWrite') &&
      h(MenuButton, {
        icon: 'collection',
        text: t('action.addToCollection'),
        onClick: () => addTo('series', [id]),
      }),
    canEdit &&
      h(MenuButton, {
        icon: 'edit',
        text: t('action.edit'),
        onClick: () => editMetadata({ owner: 'series', ids: [id], onSaved: onChange }),
      }),
    canEdit &&
      h(MenuButton, {
        icon: 'search',
        text: t('action.findMetadata'),
        onClick: () => findMetadata({ seriesId: id, title, onSaved: onChange }),
      }),
    canEdit &&
      h(MenuButton, {
        icon: 'book',
        text: t('action.chooseCover'),
        onClick: () => chooseCover({ owner: 'series', id, title, onSaved: onChange }),
      }),
    bookCount > 0 &&
      h(
        'a',
        { class: 'menu-item', href: mediaUrl(`/series/${id}/download`), download: '' },
        h(Icon, { name: 'download' }),
        t('action.download'),
      ),
  )
}
