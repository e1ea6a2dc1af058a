// Series menu for readers and editors.

import { mediaUrl } from '../api/address.ts'
import type { Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { addTo, chooseCover, editMetadata, findMetadata, setRead } from '../organize/actions.ts'
import { t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { MenuButton } from './menu-button.tsx'

type SeriesMenuProps = { series: Schemas['SeriesFull']; onChange: () => void }

export function SeriesMenu({ series, onChange }: SeriesMenuProps) {
  const { id, title, bookCount, unreadCount, readCount } = series
  const subject = { seriesIds: [id] }
  const canRead = can('ProgressWrite')
  const canEdit = can('SeriesWrite')
  return (
    <Menu label={t('action.more')} trigger={<Icon name="more" />}>
      {canRead && unreadCount > 0 && (
        <MenuButton
          icon="check"
          text={t('action.markRead')}
          onClick={() => setRead(subject, true).then(onChange)}
        />
      )}
      {canRead && readCount > 0 && (
        <MenuButton
          icon="refresh"
          text={t('action.markUnread')}
          onClick={() => setRead(subject, false).then(onChange)}
        />
      )}
      {can('CollectionsWrite') && (
        <MenuButton
          icon="collection"
          text={t('action.addToCollection')}
          onClick={() => addTo('series', [id])}
        />
      )}
      {canEdit && (
        <MenuButton
          icon="edit"
          text={t('action.edit')}
          onClick={() => editMetadata({ owner: 'series', ids: [id], onSaved: onChange })}
        />
      )}
      {canEdit && (
        <MenuButton
          icon="search"
          text={t('action.findMetadata')}
          onClick={() => findMetadata({ seriesId: id, title, onSaved: onChange })}
        />
      )}
      {canEdit && (
        <MenuButton
          icon="book"
          text={t('action.chooseCover')}
          onClick={() => chooseCover({ owner: 'series', id, title, onSaved: onChange })}
        />
      )}
      {bookCount > 0 && (
        <a class="menu-item" href={mediaUrl(`/series/${id}/download`)} download="">
          <Icon name="download" />
          {t('action.download')}
        </a>
      )}
    </Menu>
  )
}
