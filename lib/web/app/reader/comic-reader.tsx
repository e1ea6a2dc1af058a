// Page reader: comics, manga, webtoons and PDF.
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { useBookmarks } from '../reading/bookmarks.ts'
import { useWakeLock } from '../reading/screen.ts'
import { address, goBack, navigate, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { useTitle } from '../ui/page-header.tsx'
import { EndCard, readerPath, StartCard, useAdjacentBooks } from './end-card.tsx'
import { type ReaderActions, useKeyboard } from './keyboard.ts'
import { BottomBar, TopBar } from './menu-bars.tsx'
import type { PageInfo } from './page-layout.ts'
import { PagedView } from './paged-view.tsx'
import { Panels } from './panels.tsx'
import { startOf, useRecording, useRemotePosition } from './position.ts'
import { createReader, type Reader } from './reader.ts'
import type { ReaderSettings } from './settings.ts'
import { StripView } from './strip-view.tsx'

const cursorMs = 2_500

type ComicReaderProps = { book: Schemas['Book']; pages: readonly PageInfo[] }

export function ComicReader({ book, pages }: ComicReaderProps) {
  const root = useRef<HTMLElement>(null)
  const adjacent = useRef<Schemas['AdjacentBooks'] | undefined>(undefined)
  const reader = useMemo(
    () =>
      createReader({
        book,
        pages,
        start: startOf({ ...book, pageCount: pages.length }, address.peek().query.get('page')),
        hasPrevious: () => Boolean(adjacent.current?.prev),
      }),
    [],
  )
  adjacent.current = useAdjacentBooks(book.id).data
  const actions = useActions(reader, adjacent)
  useTitle(book.title)
  useViewport(reader, root)
  useKeyboard(reader, actions)
  useRecording(reader)
  useBookmarks(book.id, reader.bookmarks)
  useWakeLock(reader.page.value)
  useMenuHiding(reader)
  useHiddenCursor(root)
  useEffect(() => {
    // The reader's address has no page, so that reopening it later continues at the stored position.
    if (address.peek().query.has('page')) setQuery({ page: null }, { replace: true })
    return () => reader.images.release()
  }, [])
  const cards = {
    startCard: <StartCard book={book} />,
    endCard: <EndCard book={book} onNext={reader.finish} />,
  }
  return (
    <main
      class={`reader background-${reader.settings.value.background}`}
      ref={root}
      style={{ '--reader-filter': filterOf(reader.settings.value) }}
      aria-label={book.title}
    >
      <h1 class="visually-hidden">{book.title}</h1>
      {reader.layout.value === 'strip' ? (
        <StripView reader={reader} endCard={cards.endCard} />
      ) : (
        <PagedView reader={reader} {...cards} />
      )}
      <TopBar reader={reader} actions={actions} />
      <BottomBar reader={reader} actions={actions} />
      <RemotePosition reader={reader} />
      <div class="visually-hidden" role="status">
        {t('lists.pageOf', { page: reader.page.value, count: reader.count })}
      </div>
      <Panels reader={reader} />
    </main>
  )
}

const filterOf = ({ colors, brightness }: ReaderSettings) =>
  [
    colors === 'gray' && 'grayscale(1)',
    colors === 'inverted' && 'invert(1)',
    brightness !== 100 && `brightness(${brightness}%)`,
  ]
    .filter(Boolean)
    .join(' ') || 'none'

function useActions(
  reader: Reader,
  adjacent: { current: Schemas['AdjacentBooks'] | undefined },
): ReaderActions {
  return {
    leave: () => goBack(`books/${reader.book.id}`),
    openBook(side) {
      if (side === 'next') reader.finish()
      const book = side === 'next' ? adjacent.current?.next : adjacent.current?.prev
      if (book) navigate(readerPath(book), { replace: true })
      else if (reader.layout.value !== 'strip' && side === 'next') reader.place.value = 'end'
    },
  }
}

/** Element size, which differs from the window size when browser bars are shown. */
function useViewport(reader: Reader, root: { current: HTMLElement | null }) {
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect
      if (width > 0 && height > 0)
        reader.viewport.value = { width: Math.floor(width), height: Math.floor(height) }
    })
    observer.observe(root.current!)
    return () => observer.disconnect()
  }, [reader])
}

/** Turning a page hides the menu. */
function useMenuHiding(reader: Reader) {
  const opened = useRef(reader.page.peek())
  const page = reader.page.value
  // Synchronous, because the next key may show it again.
  useLayoutEffect(() => {
    if (page === opened.current || reader.areThumbnailsShown.peek()) return
    opened.current = -1
    if (!document.activeElement?.closest('.reader-bar')) reader.isMenuShown.value = false
  }, [page])
}

/** Hides the cursor while the mouse rests. */
function useHiddenCursor(root: { current: HTMLElement | null }) {
  useEffect(() => {
    const element = root.current!
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      clearTimeout(timer)
      element.classList.remove('without-cursor')
      timer = setTimeout(() => element.classList.add('without-cursor'), cursorMs)
    }
    element.addEventListener('pointermove', show, { passive: true })
    return () => {
      clearTimeout(timer)
      element.removeEventListener('pointermove', show)
    }
  }, [])
}

/** Offer to continue at another device's position. */
function RemotePosition({ reader }: { reader: Reader }) {
  const { remote, accept, ignore } = useRemotePosition(reader)
  return (
    <div class="reader-remote" role="status">
      {remote && (
        <div class="row card reader-remote-box">
          <span>{t('reader.remote', { page: remote.currentPage })}</span>
          <Button variant="primary" text={t('reader.goThere')} onClick={accept} />
          <Button variant="quiet" text={t('reader.remoteStay')} onClick={ignore} />
        </div>
      )}
    </div>
  )
}
