// EPUB reader: the book with its bars and panels above it.
import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { EndCard, readerPath, useAdjacentBooks } from '../reader/end-card.tsx'
import { useBookmarks } from '../reading/bookmarks.ts'
import { createRecorder, type Recorder } from '../reading/recorder.ts'
import { useWakeLock } from '../reading/screen.ts'
import { navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { observeSize } from '../ui/layout.ts'
import { useTitle } from '../ui/page-header.tsx'
import { EmptyState, ErrorState, Loading } from '../ui/state.tsx'
import { LeaveLink, ReaderBars, RunningFoot } from './bars.tsx'
import { type BookReader, createBookReader } from './book-reader.ts'
import { loadPublication, type Publication } from './content/publication.ts'
import { useReaderKeys } from './keys.ts'
import { recordedPosition, targetOf } from './locator.ts'
import { type Panel, Panels } from './panels.tsx'
import { operateAt } from './pointing.ts'
import { loadProgression, useNewerPosition } from './progression.ts'
import { settings } from './settings.ts'
import type { Target } from './view/book-view.ts'
import { listenToGestures } from './view/gestures.ts'
import { palette } from './view/presentation.ts'

type Book = Schemas['Book']
type EpubReaderProps = { book: Book }

export function EpubReader({ book }: EpubReaderProps) {
  useTitle(book.title)
  const opened = useResource(`epub:${book.id}`, async signal => {
    const [publication, progression] = await Promise.all([
      loadPublication(book.id, signal),
      loadProgression(book.id, signal),
    ])
    const isFinished = book.readProgress?.completed ?? false
    const start =
      progression && !isFinished ? targetOf(publication, progression.locator) : { section: 0 }
    return { publication, start }
  })
  if (opened.error) return <FailedBook book={book} error={opened.error} onRetry={opened.reload} />
  if (!opened.data || opened.isLoading) return <Loading />
  const { publication, start } = opened.data
  const isUnreadable =
    publication.sections.length === 0 ||
    publication.sections.every(({ isEncrypted }) => isEncrypted)
  if (isUnreadable)
    return (
      <div class="epub-state">
        <LeaveLink book={book} />
        {publication.sections.length === 0 ? (
          <EmptyState icon="book" title={t('epub.empty')} text={t('epub.emptyText')} />
        ) : (
          <EmptyState icon="lock" title={t('epub.encrypted')} text={t('epub.encryptedText')} />
        )}
      </div>
    )
  return <OpenedBook key={book.id} book={book} publication={publication} start={start} />
}

type FailedProps = { book: Book; error: Error; onRetry: () => void }

/** For unreadable files the server has no contents. */
function FailedBook({ book, error, onRetry }: FailedProps) {
  const isUnreadable = error instanceof ApiError && [404, 422].includes(error.status)
  const text = book.analysisError ?? t('epub.unreadableText')
  return (
    <div class="epub-state">
      <LeaveLink book={book} />
      {isUnreadable ? (
        <EmptyState
          icon="error"
          title={t('epub.unreadable')}
          text={text}
          action={<Button icon="refresh" text={t('action.retry')} onClick={onRetry} />}
        />
      ) : (
        <ErrorState error={error} onRetry={onRetry} />
      )}
    </div>
  )
}

type OpenedProps = { book: Book; publication: Publication; start: Target }

function OpenedBook({ book, publication, start }: OpenedProps) {
  const host = useRef<HTMLDivElement>(null)
  const [reader, setReader] = useState<BookReader | null>(null)
  const recorder = useRef<Recorder | null>(null)
  const areBarsShown = useSignal(true)
  const panel = useSignal<Panel | null>(null)
  const isSelecting = useSignal(false)
  const isIncognito = useSignal(false)

  useEffect(() => {
    const created = createBookReader({
      host: host.current!,
      publication,
      palette: () => palette.peek(),
      onMoved: (position, movement) =>
        recorder.current?.moved(recordedPosition(publication, position), movement),
    })
    setReader(created)
    void created.go(start, 'opened')
    return () => {
      created.dispose()
    }
  }, [])
  const isRecorded = can('ProgressWrite') && !isIncognito.value
  useEffect(() => {
    if (!isRecorded) return
    const created = createRecorder({ bookId: book.id })
    recorder.current = created
    const position = reader?.position.peek()
    if (position) created.moved(recordedPosition(publication, position), reader!.movement())
    return () => {
      created.stop()
      recorder.current = null
    }
  }, [isRecorded])

  useSignalEffect(() => {
    void [settings.value, palette.value]
    reader?.layOut()
  })
  useEffect(() => {
    return reader ? observeSize(host.current!, reader.layOut) : undefined
  }, [reader])
  useReaderGestures(host, reader, { areBarsShown, recorder })
  useReaderKeys({ reader, book, host, panel, areBarsShown, openNext: useNextBook(book) })
  useNewerPosition({ reader, publication })
  useBookmarks(book.id, reader?.bookmarks)
  useWakeLock(reader?.position.value)

  const { background, text } = palette.value
  const isFixed = publication.isFixed
  const colors = useMemo(
    () => ({
      '--epub-ground': background,
      '--epub-text': text,
      colorScheme: palette.value.isDark ? 'dark' : 'light',
    }),
    [palette.value],
  )
  return (
    <main class={`epub-reader${isFixed ? ' fixed' : ''}`} style={colors}>
      <h1 class="visually-hidden">{book.title}</h1>
      <div
        class={`epub-host${isSelecting.value ? ' selecting' : ''}`}
        ref={host}
        tabIndex={0}
        role="region"
        aria-label={book.title}
        onScroll={() => recorder.current?.active()}
      />
      {reader && <RunningFoot reader={reader} />}
      {reader && <ReaderStates reader={reader} />}
      {reader && !isFixed && <NextSection reader={reader} />}
      {reader && (
        <ReaderBars
          book={book}
          reader={reader}
          areBarsShown={areBarsShown}
          panel={panel}
          isSelecting={isSelecting}
        />
      )}
      {reader && <Panels reader={reader} panel={panel} isIncognito={isIncognito} />}
      {reader?.isPastEnd.value && <BookEnd book={book} onBack={() => void reader.turn(-1)} />}
    </main>
  )
}

/** Opens the next book, if any. */
function useNextBook(book: Book): () => void {
  const { data } = useAdjacentBooks(book.id)
  const next = useRef<Book | null>(null)
  next.current = data?.next ?? null
  return () => next.current && navigate(readerPath(next.current), { replace: true })
}

function ReaderStates({ reader }: { reader: BookReader }) {
  const { error, isLoading } = reader
  if (error.value)
    return (
      <div class="epub-error">
        <ErrorState error={error.value} onRetry={() => void reader.retry()} />
      </div>
    )
  return isLoading.value ? (
    <div class="epub-loading" role="status">
      {t('epub.loading')}
    </div>
  ) : null
}

type GestureState = {
  areBarsShown: Signal<boolean>
  recorder: { current: Recorder | null }
}

function useReaderGestures(
  host: { current: HTMLDivElement | null },
  reader: BookReader | null,
  { areBarsShown, recorder }: GestureState,
) {
  useEffect(() => {
    if (!reader) return
    const surface = host.current!
    const toggle = () => {
      areBarsShown.value = !areBarsShown.value
    }
    const isPaged = () => surface.dataset.flow === 'paginated' || surface.dataset.flow === 'fixed'
    return listenToGestures(surface, {
      isPaged,
      onTap(point, side) {
        recorder.current?.active()
        if (reader.selection.clear() || reader.following.followAt(point)) return
        if (operateAt(reader.documentAt(point))) return reader.layOut()
        if (side === 'middle' || !isPaged()) return toggle()
        areBarsShown.value = false
        void reader.turn(reader.stepTo(side))
      },
      onSwipe: side =>
        isPaged() && void reader.turn(reader.stepTo(side === 'left' ? 'right' : 'left')),
      onWheel: step => void reader.turn(step),
      onHover(point) {
        surface.style.cursor = reader.following.isLinkAt(point) ? 'pointer' : ''
      },
      onDrag: (from, to) => reader.selection.select(from, to),
    })
  }, [reader])
}

/** At the end of a scrolling column. */
function NextSection({ reader }: { reader: BookReader }) {
  const position = reader.position.value
  const isEnd = position !== null && position.page === position.pages - 1
  if (settings.value.flow !== 'scrolled' || !isEnd) return null
  return (
    <Button class="epub-next" variant="primary" onClick={() => reader.turn(1)}>
      {t(position.isEnd ? 'epub.finish' : 'epub.nextChapter')}
    </Button>
  )
}

function BookEnd({ book, onBack }: { book: Book; onBack: () => void }) {
  return (
    <div class="epub-end">
      <EndCard book={book} />
      <Button variant="quiet" text={t('epub.lastPage')} onClick={onBack} />
    </div>
  )
}
