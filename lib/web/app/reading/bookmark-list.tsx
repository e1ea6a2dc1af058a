// Bookmarks of a book as a list: going to one, its note, deleting it; and the button of the bars that sets one.
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { TextArea } from '../ui/field.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { type Bookmark, type Bookmarks, canBookmark } from './bookmarks.ts'

const maxNoteLength = 10_000
/** Shown at first, and added by the button below them. */
const shownStep = 100

export function BookmarkButton({ bookmarks }: { bookmarks: Bookmarks }) {
  if (!canBookmark()) return null
  const isSet = bookmarks.here.value.length > 0
  return (
    <IconButton
      icon="bookmark"
      class="bookmark-button"
      label={t(isSet ? 'bookmark.remove' : 'bookmark.add')}
      aria-pressed={isSet}
      onClick={bookmarks.toggle}
    />
  )
}

type BookmarkListProps = {
  bookmarks: Bookmarks
  labelOf: (bookmark: Bookmark) => string
  onOpen: (bookmark: Bookmark) => void
}

export function BookmarkList({ bookmarks, labelOf, onOpen }: BookmarkListProps) {
  const [count, setCount] = useState(shownStep)
  const { list, error, editing } = bookmarks
  if (error.value && list.value.length === 0)
    return <ErrorState error={error.value} onRetry={bookmarks.load} />
  if (list.value.length === 0)
    return (
      <EmptyState
        icon="bookmark"
        title={t('bookmark.empty')}
        {...(canBookmark() && { text: t('bookmark.emptyText') })}
      />
    )
  const edited = list.value.find(({ id }) => id === editing.value?.id)
  const shown = list.value.slice(0, count)
  return (
    <>
      <ol class="bookmarks">
        {/* The edited one is shown, however far back it is. */}
        {(edited && !shown.includes(edited) ? [...shown, edited] : shown).map(bookmark => (
          <li key={bookmark.id}>
            <div class="bookmark-row">
              <button
                type="button"
                class="menu-item bookmark-target"
                onClick={() => onOpen(bookmark)}
              >
                <strong>{labelOf(bookmark)}</strong>
                {bookmark !== edited && <BookmarkText bookmark={bookmark} />}
              </button>
              {canBookmark() && <BookmarkActions bookmarks={bookmarks} bookmark={bookmark} />}
            </div>
            {bookmark === edited && <NoteForm bookmarks={bookmarks} bookmark={bookmark} />}
          </li>
        ))}
      </ol>
      {list.value.length > count && (
        <Button text={t('details.more')} onClick={() => setCount(count + shownStep)} />
      )}
    </>
  )
}

/** The note, or else the words at the place. */
function BookmarkText({ bookmark: { note, locator } }: { bookmark: Bookmark }) {
  const [words, title] = [locator?.text?.highlight?.trim() ?? '', locator?.title?.trim()]
  // The label above already has the heading.
  const excerpt = title && words.startsWith(title) ? words.slice(title.length) : words
  if (note)
    return (
      <span class="bookmark-note" dir="auto">
        {note}
      </span>
    )
  return excerpt ? (
    <span class="secondary-text" dir="auto">
      {excerpt}…
    </span>
  ) : null
}

type OneProps = { bookmarks: Bookmarks; bookmark: Bookmark }

const BookmarkActions = ({ bookmarks, bookmark }: OneProps) => (
  <>
    <IconButton
      icon="edit"
      label={t('bookmark.edit')}
      onClick={() => {
        bookmarks.editing.value = { id: bookmark.id, note: bookmark.note ?? '' }
      }}
    />
    <IconButton
      icon="delete"
      label={t('bookmark.delete')}
      onClick={() => bookmarks.remove([bookmark])}
    />
  </>
)

function NoteForm({ bookmarks, bookmark }: OneProps) {
  const form = useRef<HTMLDivElement>(null)
  const { editing } = bookmarks
  const { id } = bookmark
  const note = editing.value?.note ?? ''
  useEffect(() => form.current?.querySelector('textarea')?.focus(), [])
  const close = () => {
    editing.value = null
  }
  const save = async () => {
    await bookmarks.edit(id, note.trim() || null)
    close()
  }
  return (
    <div class="stack bookmark-form" ref={form}>
      <TextArea
        label={t('bookmark.note')}
        value={note}
        maxLength={maxNoteLength}
        dir="auto"
        onInput={text => {
          editing.value = { id, note: text }
        }}
      />
      <div class="row">
        <Button variant="primary" text={t('action.save')} onClick={save} />
        <Button variant="quiet" text={t('action.cancel')} onClick={close} />
      </div>
    </div>
  )
}
