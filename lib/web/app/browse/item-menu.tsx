// Menus of a book and of a series, for readers and editors.
import { mediaUrl } from '../api/address.ts'
import type { Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { bookState } from '../lists/book-state.ts'
import { addTo, chooseCover, editMetadata, findMetadata, setRead } from '../organize/actions.ts'
import { t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuButton, MenuLink } from '../ui/menu.tsx'

type BookMenuProps = { book: Schemas['BookFull']; onChange: () => void }

export const BookMenu = ({ book, onChange }: BookMenuProps) => (
  <ItemMenu
    owner="books"
    {...book}
    canMarkRead={bookState(book) !== 'read'}
    canMarkUnread={book.readProgress !== null}
    file={book.deleted ? null : 'file'}
    onChange={onChange}
  />
)

type SeriesMenuProps = { series: Schemas['SeriesFull']; onChange: () => void }

export const SeriesMenu = ({ series, onChange }: SeriesMenuProps) => (
  <ItemMenu
    owner="series"
    {...series}
    canMarkRead={series.unreadCount > 0}
    canMarkUnread={series.readCount > 0}
    file={series.bookCount > 0 ? 'download' : null}
    onChange={onChange}
  />
)

type ItemMenuProps = {
  owner: 'books' | 'series'
  id: string
  title: string
  canMarkRead: boolean
  canMarkUnread: boolean
  /** Last part of the download's address; null without a file. */
  file: string | null
  onChange: () => void
}

function ItemMenu(props: ItemMenuProps) {
  const { owner, id, title, canMarkRead, canMarkUnread, file, onChange: onSaved } = props
  const isSeries = owner === 'series'
  const subject = isSeries ? { seriesIds: [id] } : { bookIds: [id] }
  const canRead = can('ProgressWrite')
  const canEdit = can(isSeries ? 'SeriesWrite' : 'BooksWrite')
  const mark = (isRead: boolean) => setRead(subject, isRead).then(onSaved)
  const add = () => addTo(owner, [id])
  const edit = () => editMetadata({ owner, ids: [id], onSaved })
  const find = () => findMetadata({ seriesId: id, title, onSaved })
  const choose = () => chooseCover({ owner, id, title, onSaved })
  return (
    <Menu label={t('action.more')} trigger={<Icon name="more" />}>
      {canRead && canMarkRead && (
        <MenuButton icon="check" text={t('action.markRead')} onClick={() => mark(true)} />
      )}
      {canRead && canMarkUnread && (
        <MenuButton icon="refresh" text={t('action.markUnread')} onClick={() => mark(false)} />
      )}
      {isSeries && can('CollectionsWrite') && (
        <MenuButton icon="collection" text={t('action.addToCollection')} onClick={add} />
      )}
      {!isSeries && can('ReadListsWrite') && (
        <MenuButton icon="list" text={t('action.addToReadList')} onClick={add} />
      )}
      {canEdit && <MenuButton icon="edit" text={t('action.edit')} onClick={edit} />}
      {canEdit && isSeries && (
        <MenuButton icon="search" text={t('action.findMetadata')} onClick={find} />
      )}
      {canEdit && <MenuButton icon="book" text={t('action.chooseCover')} onClick={choose} />}
      {file !== null && (
        <MenuLink
          icon="download"
          text={t('action.download')}
          href={mediaUrl(`/${owner}/${id}/${file}`)}
          isDownload
        />
      )}
    </Menu>
  )
}
