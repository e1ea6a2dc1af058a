// Book menu for readers and editors.
import { mediaUrl } from '../api/address.ts'
import type { Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { bookState } from '../lists/book-state.ts'
import { addTo, chooseCover, editMetadata, setRead } from '../organize/actions.ts'
import { t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { MenuButton } from './menu-button.tsx'

type BookMenuProps = { book: Schemas['BookFull']; onChange: () => void }

export function BookMenu({ book, onChange }: BookMenuProps) {
  const { id, title, deleted, readProgress } = book
  const subject = { bookIds: [id] }
  const canRead = can('ProgressWrite')
  const canEdit = can('BooksWrite')
  return (
    <Menu label={t('action.more')} trigger={<Icon name="more" />}>
      {canRead && bookState(book) !== 'read' && (
        <MenuButton
          icon="check"
          text={t('action.markRead')}
          onClick={() => setRead(subject, true).then(onChange)}
        />
      )}
      {canRead && readProgress && (
        <MenuButton
          icon="refresh"
          text={t('action.markUnread')}
          onClick={() => setRead(subject, false).then(onChange)}
        />
      )}
      {can('ReadListsWrite') && (
        <MenuButton
          icon="list"
          text={t('action.addToReadList')}
          onClick={() => addTo('books', [id])}
        />
      )}
      {canEdit && (
        <MenuButton
          icon="edit"
          text={t('action.edit')}
          onClick={() => editMetadata({ owner: 'books', ids: [id], onSaved: onChange })}
        />
      )}
      {canEdit && (
        <MenuButton
          icon="book"
          text={t('action.chooseCover')}
          onClick={() => chooseCover({ owner: 'books', id, title, onSaved: onChange })}
        />
      )}
      {!deleted && (
        <a class="menu-item" href={mediaUrl(`/books/${id}/file`)} download="">
          <Icon name="download" />
          {t('action.download')}
        </a>
      )}
    </Menu>
  )
}
