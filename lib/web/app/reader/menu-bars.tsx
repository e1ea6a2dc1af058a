// Bars above the pages: title and tools at the top; page slider, thumbnails and adjacent books at the bottom.
import { useSignal } from '@preact/signals'
import { mediaUrl } from '../api/address.ts'
import { can } from '../api/session.ts'
import { canFullscreen, isFullscreen, toggleFullscreen } from '../reading/fullscreen.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import type { ReaderActions } from './keyboard.ts'
import type { Reader } from './reader.ts'
import { Thumbnails } from './thumbnails.tsx'

type BarProps = { reader: Reader; actions: ReaderActions }

export function TopBar({ reader, actions }: BarProps) {
  const { book, panel, isMenuShown } = reader
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
      <IconButton
        icon="grid"
        label={t('reader.thumbnails')}
        aria-pressed={reader.areThumbnailsShown.value}
        onClick={() => {
          reader.areThumbnailsShown.value = !reader.areThumbnailsShown.value
        }}
      />
      {canFullscreen && (
        <IconButton
          icon="fullscreen"
          class="reader-fullscreen"
          label={t(isFullscreen.value ? 'reader.leaveFullscreen' : 'reader.fullscreen')}
          onClick={() => void toggleFullscreen()}
        />
      )}
      <IconButton
        icon="settings"
        label={t('reader.settings')}
        onClick={() => {
          panel.value = 'settings'
        }}
      />
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
