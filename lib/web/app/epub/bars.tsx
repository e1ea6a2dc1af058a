// Bars of the EPUB reader: close, contents and settings at the top, the position at the bottom.
import type { Signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { BookmarkButton } from '../reading/bookmark-list.tsx'
import { canFullscreen, toggleFullscreen } from '../reading/screen.ts'
import { goBack, href } from '../routing/router.ts'
import { formatNumber, t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import type { BookReader } from './book-reader.ts'
import type { Panel } from './panels.tsx'

type Book = Schemas['Book']

export function LeaveLink({ book }: { book: Book }) {
  const path = `books/${book.id}`
  const leave = (event: MouseEvent) => {
    event.preventDefault()
    goBack(path)
  }
  return (
    <a
      class="button quiet icon-button icon-directional"
      href={href(path)}
      aria-label={t('reader.close')}
      title={t('reader.close')}
      onClick={leave}
    >
      <Icon name="arrowLeft" />
    </a>
  )
}

type BarsProps = {
  book: Book
  reader: BookReader
  areBarsShown: Signal<boolean>
  panel: Signal<Panel | null>
  isSelecting: Signal<boolean>
}

export function ReaderBars({ book, reader, areBarsShown, panel, isSelecting }: BarsProps) {
  const isShown = areBarsShown.value || isSelecting.value
  const open = (name: Panel) => () => {
    panel.value = name
  }
  const state = isShown ? '' : ' away'
  return (
    <>
      <header class={`epub-bar top${state}`}>
        <LeaveLink book={book} />
        <p class="epub-title ellipsis">{book.title}</p>
        {reader.way.value.length > 0 && (
          <IconButton icon="undo" label={t('epub.back')} onClick={reader.goBackOnWay} />
        )}
        {!reader.publication.isFixed && (
          <IconButton icon="search" label={t('epub.search')} onClick={open('search')} />
        )}
        <IconButton
          icon="textSelect"
          label={t('epub.selectText')}
          aria-pressed={isSelecting.value}
          onClick={() => {
            isSelecting.value = !isSelecting.value
          }}
        />
        <BookmarkButton bookmarks={reader.bookmarks} />
        {canFullscreen && (
          <IconButton
            icon="fullscreen"
            label={t('reader.fullscreen')}
            class="epub-fullscreen"
            onClick={toggleFullscreen}
          />
        )}
        <IconButton icon="list" label={t('epub.contents')} onClick={open('contents')} />
        <IconButton icon="textSize" label={t('epub.settings')} onClick={open('settings')} />
      </header>
      <BottomBar reader={reader} state={state} />
    </>
  )
}

function BottomBar({ reader, state }: { reader: BookReader; state: string }) {
  const [dragged, setDragged] = useState<number | null>(null)
  const { position, publication } = reader
  const total = position.value?.totalProgression ?? 0
  const value = dragged ?? Math.round(total * 1000)
  const entry = publication.contents[position.value?.entry ?? -1]
  const sectionButton = (name: 'previousChapter' | 'nextChapter') => (
    <IconButton
      icon={name === 'nextChapter' ? 'chevronRight' : 'chevronLeft'}
      class="icon-directional"
      label={t(`epub.${name}`)}
      onClick={() => reader.goToSection(name === 'nextChapter' ? 1 : -1)}
    />
  )
  return (
    <footer class={`epub-bar bottom${state}`} dir={publication.isRightToLeft ? 'rtl' : 'ltr'}>
      {sectionButton('previousChapter')}
      <input
        type="range"
        class="epub-slider"
        min={0}
        max={1000}
        value={value}
        aria-label={t('epub.position')}
        aria-valuetext={`${percent(value / 1000)}${entry ? `, ${entry.title}` : ''}`}
        onInput={event => setDragged(Number(event.currentTarget.value))}
        onChange={event => {
          setDragged(null)
          void reader.goToTotal(Number(event.currentTarget.value) / 1000)
        }}
      />
      <span class="epub-percent">{percent(value / 1000)}</span>
      {sectionButton('nextChapter')}
    </footer>
  )
}

/** One line below the text: chapter and page. */
export function RunningFoot({ reader }: { reader: BookReader }) {
  const position = reader.position.value
  if (!position) return null
  const { contents, isFixed, sections } = reader.publication
  const { entry, page, pages, section, totalProgression } = position
  const number = isFixed ? section + 1 : page + 1
  const count = isFixed ? sections.length : pages
  return (
    <div class="epub-foot" dir="auto">
      <span class="epub-foot-title ellipsis">{contents[entry]?.title ?? ''}</span>
      <span aria-live="polite">{t('epub.page', { page: number, pages: count })}</span>
      <span>{percent(totalProgression)}</span>
    </div>
  )
}

const percent = (fraction: number) => formatNumber(fraction, { style: 'percent' })
