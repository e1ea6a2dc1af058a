// Bars above the pages: title and tools at the top; page slider, thumbnails and adjacent books at the bottom.
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { mediaUrl } from '../api/address.ts'
import { can } from '../api/session.ts'
import { BookmarkButton } from '../reading/bookmark-list.tsx'
import { canFullscreen, isFullscreen, toggleFullscreen } from '../reading/screen.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import type { ReaderActions } from './keyboard.ts'
import type { Reader } from './reader.ts'

type BarProps = { reader: Reader; actions: ReaderActions }

export function TopBar({ reader, actions }: BarProps) {
  const { book, panel, isMenuShown } = reader
  const open = (name: typeof panel.value) => () => {
    panel.value = name
  }
  return (
    <header class="reader-bar reader-top" inert={!isMenuShown.value}>
      <IconButton
        icon="arrowLeft"
        class="icon-directional"
        label={t('reader.close')}
        onClick={actions.leave}
      />
      <div class="reader-title">
        <strong class="ellipsis">{book.title}</strong>
        <a class="ellipsis" href={href(`series/${book.seriesId}`)}>
          {book.seriesName}
        </a>
      </div>
      {reader.isIncognito.value && <span class="badge accent">{t('reader.incognito')}</span>}
      {reader.hasText && (
        <IconButton icon="search" label={t('epub.search')} onClick={open('search')} />
      )}
      <IconButton
        icon="grid"
        label={t('reader.thumbnails')}
        aria-pressed={reader.areThumbnailsShown.value}
        onClick={() => {
          reader.areThumbnailsShown.value = !reader.areThumbnailsShown.value
        }}
      />
      <BookmarkButton bookmarks={reader.bookmarks} />
      <IconButton
        icon="list"
        label={t(reader.hasText ? 'epub.contents' : 'bookmark.list')}
        onClick={open(reader.hasText ? 'contents' : 'bookmarks')}
      />
      {canFullscreen && (
        <IconButton
          icon="fullscreen"
          class="reader-fullscreen"
          label={t(isFullscreen.value ? 'reader.leaveFullscreen' : 'reader.fullscreen')}
          onClick={() => void toggleFullscreen()}
        />
      )}
      <IconButton icon="settings" label={t('reader.settings')} onClick={open('settings')} />
    </header>
  )
}

export function BottomBar({ reader, actions }: BarProps) {
  const { page, count, isMenuShown, areThumbnailsShown, settings } = reader
  const dragged = useSignal<number | null>(null)
  const isRtl = settings.value.direction === 'rtl'
  const shown = dragged.value ?? page.value
  const bookButton = (side: 'previous' | 'next') => (
    <IconButton
      icon={(side === 'next') !== isRtl ? 'skipNext' : 'skipPrevious'}
      label={t(side === 'next' ? 'reader.nextBook' : 'reader.previousBook')}
      onClick={() => actions.openBook(side)}
    />
  )
  return (
    <footer class="reader-bar reader-bottom" inert={!isMenuShown.value}>
      {areThumbnailsShown.value && isMenuShown.value && <Thumbnails reader={reader} />}
      <div class="reader-slider" dir={isRtl ? 'rtl' : 'ltr'}>
        {bookButton('previous')}
        <span class="reader-page-label" dir="ltr">
          {pagesLabel(reader, dragged.value)}
        </span>
        <div class="reader-range">
          {dragged.value !== null && <Preview reader={reader} page={dragged.value} />}
          <input
            type="range"
            min={1}
            max={Math.max(2, count)}
            disabled={count < 2}
            value={shown}
            aria-label={t('reader.slider')}
            aria-valuetext={t('lists.pageOf', { page: shown, count })}
            onInput={event => {
              dragged.value = Number(event.currentTarget.value)
            }}
            onChange={event => {
              dragged.value = null
              reader.go(Number(event.currentTarget.value))
            }}
          />
        </div>
        <span class="reader-page-label">{count}</span>
        {bookButton('next')}
      </div>
    </footer>
  )
}

/** Numbers of the shown pages, such as 4–5. */
function pagesLabel(reader: Reader, dragged: number | null): string {
  const spread = reader.spreads.value[reader.spreadIndex.value]
  if (dragged !== null || reader.layout.value !== 'double' || !spread || spread.pages.length < 2)
    return String(dragged ?? reader.page.value)
  return `${spread.pages[0]}–${spread.pages.at(-1)}`
}

/** Thumbnail of the page at the dragged slider. */
function Preview({ reader, page }: { reader: Reader; page: number }) {
  const part = (page - 1) / Math.max(1, reader.count - 1)
  return (
    <div class="reader-preview" style={{ insetInlineStart: `${part * 100}%` }} aria-hidden>
      {can('PagesRead') && (
        <img
          src={mediaUrl(`/books/${reader.book.id}/pages/${page}`, { width: 160, format: 'webp' })}
          alt=""
        />
      )}
      <span>{page}</span>
    </div>
  )
}

const itemWidth = 84
const overscan = 2
const maxLoading = 4
const thumbnailWidth = 160

/** Only visible ones are rendered and requested, a few at a time. */
function Thumbnails({ reader }: { reader: Reader }) {
  const list = useRef<HTMLDivElement>(null)
  const left = useSignal(0)
  const queue = useState(createQueue)[0]
  const { count, page, settings, viewport } = reader
  const isRtl = settings.value.direction === 'rtl'
  const first = Math.max(0, Math.floor(left.value / itemWidth) - overscan)
  const visible = Math.ceil(viewport.value.width / itemWidth) + 2 * overscan
  const last = Math.min(count, first + visible)
  useLayoutEffect(() => {
    const element = list.current!
    const target = (page.value - 0.5) * itemWidth - element.clientWidth / 2
    element.scrollLeft = Math.max(0, target) * (isRtl ? -1 : 1)
    left.value = Math.abs(element.scrollLeft)
  }, [page.value, isRtl])
  const numbers = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i + 1)
  return (
    <div
      class="reader-thumbnails"
      ref={list}
      dir={isRtl ? 'rtl' : 'ltr'}
      tabIndex={-1}
      onScroll={() => {
        left.value = Math.abs(list.current!.scrollLeft)
      }}
    >
      <div class="reader-thumbnail-track" style={{ width: `${count * itemWidth}px` }}>
        {numbers.map(number => (
          <button
            key={number}
            type="button"
            class="reader-thumbnail"
            style={{ insetInlineStart: `${(number - 1) * itemWidth}px` }}
            aria-label={t('reader.goToPage', { page: number })}
            aria-current={number === page.value ? 'page' : undefined}
            onClick={() => reader.go(number)}
          >
            <Thumbnail
              source={mediaUrl(`/books/${reader.book.id}/pages/${number}`, {
                width: thumbnailWidth,
                format: 'webp',
              })}
              queue={queue}
            />
            <span>{number}</span>
          </button>
        ))}
      </div>
    </div>
  )
}

/** Cancels requests of thumbnails that left the view. */
function Thumbnail({ source, queue }: { source: string; queue: Queue }) {
  const image = useRef<HTMLImageElement>(null)
  useEffect(() => {
    const element = image.current!
    const cancel = queue(done => {
      element.onload = element.onerror = done
      element.src = source
    })
    return () => {
      element.removeAttribute('src')
      cancel()
    }
  }, [source])
  return <img ref={image} alt="" />
}

type Queue = ReturnType<typeof createQueue>

/** Runs a few tasks at a time, latest first; returns a function that cancels the task. */
function createQueue() {
  const waiting: { run: () => void }[] = []
  let running = 0
  const next = () => {
    while (running < maxLoading) {
      const task = waiting.pop()
      if (!task) return
      running += 1
      task.run()
    }
  }
  return (start: (done: () => void) => void) => {
    let isDone = false
    let isStarted = false
    const done = () => {
      if (isDone) return
      isDone = true
      if (isStarted) running -= 1
      next()
    }
    const task = {
      run: () => {
        isStarted = true
        start(done)
      },
    }
    waiting.push(task)
    queueMicrotask(next)
    return () => {
      const index = waiting.indexOf(task)
      if (index >= 0) waiting.splice(index, 1)
      done()
    }
  }
}
