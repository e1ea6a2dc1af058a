// What the pages of series and books share: the layout, the menu, the want-to-read button.
import type { ComponentChildren } from 'preact'
import { mediaUrl } from '../api/address.ts'
import { api, type Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { bookState } from '../lists/card.tsx'
import {
  addTo,
  chooseCover,
  editMetadata,
  findMetadata,
  type Selection,
  setRead,
  setWantToRead,
} from '../organize/actions.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Cover, type CoverOwner } from '../ui/cover.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuButton, MenuLink } from '../ui/menu.tsx'
import { useTitle } from '../ui/page-header.tsx'
import { showNotice } from '../ui/toast.tsx'

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
  const find = () => findMetadata({ owner, id, title, onSaved })
  const choose = () => chooseCover({ owner, id, title, onSaved })
  const analyze = async () => {
    await api.POST(`/api/v1/${owner}/{id}/analyze`, { params: { path: { id } } })
    showNotice(t('maintenance.started'))
  }
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
      {canEdit && <MenuButton icon="search" text={t('action.findMetadata')} onClick={find} />}
      {canEdit && <MenuButton icon="book" text={t('action.chooseCover')} onClick={choose} />}
      {canEdit && file !== null && (
        <MenuButton icon="refresh" text={t('action.analyze')} onClick={analyze} />
      )}
      {can('ApiKeysRead') && (
        <MenuLink icon="key" text={t('action.readInApp')} href={href('account/keys')} />
      )}
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

type DetailProps = {
  owner: CoverOwner
  id: string
  title: string
  /** The link above the title. */
  above: { path: string; name: string }
  /** Parts of the line below the title; empty ones are left out. */
  subtitle: readonly ComponentChildren[]
  actions: ComponentChildren
  children: ComponentChildren
}

/** The cover beside title, facts and actions. */
export function DetailLayout(props: DetailProps) {
  const { owner, id, title, above, subtitle, actions, children } = props
  useTitle(title)
  return (
    <article class="browse-detail">
      <div class="browse-detail-cover">
        <Cover owner={owner} id={id} isEager />
      </div>
      <header class="browse-detail-header">
        <div class="browse-detail-above">
          <a href={href(above.path)} dir="auto">
            {above.name}
          </a>
        </div>
        <h1 class="clamp" dir="auto">
          {title}
        </h1>
        <div class="browse-detail-subtitle">
          {subtitle.filter(Boolean).map((part, key) => (
            <span key={key}>{part}</span>
          ))}
        </div>
      </header>
      <div class="row browse-detail-actions">{actions}</div>
      <div class="browse-detail-content">{children}</div>
    </article>
  )
}

type WantToReadProps<T> = { selection: Selection; item: T; onChange: (item: T) => void }

export function WantToReadButton<T extends { wantToRead: boolean }>(props: WantToReadProps<T>) {
  const { selection, item, onChange } = props
  const { wantToRead } = item
  const toggle = async () => {
    await setWantToRead(selection, !wantToRead)
    onChange({ ...item, wantToRead: !wantToRead })
  }
  return (
    <Button
      icon="bookmark"
      class={wantToRead ? 'active' : ''}
      text={t('action.wantToRead')}
      aria-pressed={wantToRead}
      onClick={toggle}
    />
  )
}
