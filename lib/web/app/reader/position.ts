// Position in the book: recorded while reading, restored after a reload, and offered when another device was further.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { clockOffset } from '../api/clock.ts'
import { can } from '../api/session.ts'
import { readStorage, writeStorage } from '../api/storage.ts'
import { useEvents } from '../api/use-events.ts'
import { lastRecordedAt } from '../reading/outbox.ts'
import { createRecorder, type Recorder } from '../reading/recorder.ts'
import type { Reader } from './reader.ts'

const storageKey = 'stackroom.reader.position'

type LocalPosition = { bookId: string; page: number; at: number }

/** The page that this tab showed last, which a reload opens again also when nothing is recorded. */
function localPosition(bookId: string): LocalPosition | null {
  try {
    const stored: LocalPosition | null = JSON.parse(
      readStorage(storageKey, 'sessionStorage') ?? 'null',
    )
    return stored?.bookId === bookId ? stored : null
  } catch {
    return null
  }
}

/** The page to open: that of the address, else where the account or this tab was. A book that was read begins again. */
export function startPage(book: Schemas['Book'], requested: string | null): number {
  const page = Number(requested)
  if (Number.isInteger(page) && page > 0) return Math.min(page, book.pageCount)
  const progress = book.readProgress
  const local = localPosition(book.id)
  const isLocalNewer = local && !(progress && new Date(progress.updatedAt).getTime() > local.at)
  const found = isLocalNewer ? local.page : progress?.completed ? 1 : (progress?.currentPage ?? 1)
  return Math.min(Math.max(1, found), book.pageCount)
}

/** Records reading while the reader is shown, unless it is incognito or the account may not. */
export function useRecording(reader: Reader) {
  const recorder = useRef<Recorder | null>(null)
  const { book, count } = reader
  const isRecorded = can('ProgressWrite') && !reader.isIncognito.value
  const shown = shownPages(reader)
  const key = shown.join('-')
  const isEnd =
    reader.layout.value === 'strip'
      ? shown.includes(count) && reader.isAtEnd.value
      : reader.spreadIndex.value === reader.spreads.value.length - 1
  // Layout effects: the reader may be closed before others of the last page are run.
  useLayoutEffect(() => {
    if (!isRecorded) return
    const created = createRecorder({ bookId: book.id })
    recorder.current = created
    const onActivity = () => created.active()
    const events = ['pointerdown', 'pointermove', 'wheel', 'keydown', 'touchmove'] as const
    for (const name of events) addEventListener(name, onActivity, { passive: true })
    return () => {
      for (const name of events) removeEventListener(name, onActivity)
      created.stop()
      recorder.current = null
    }
  }, [isRecorded, book.id])
  useLayoutEffect(() => {
    const toPage = shown.at(-1)!
    recorder.current?.moved({ toPage, isEnd, pages: shown })
    const local: LocalPosition = {
      bookId: book.id,
      page: shown[0]!,
      at: Date.now() + clockOffset(),
    }
    writeStorage(storageKey, JSON.stringify(local), 'sessionStorage')
  }, [key, isEnd, isRecorded])
}

function shownPages(reader: Reader): readonly number[] {
  return reader.layout.value === 'strip'
    ? [reader.page.value]
    : (reader.spreads.value[reader.spreadIndex.value]?.pages ?? [reader.page.value])
}

/** A newer position of another device, with functions to accept and to ignore it. */
export function useRemotePosition(reader: Reader) {
  const { book } = reader
  const [remote, setRemote] = useState<Schemas['Progress'] | null>(null)
  const known = useRef(book.readProgress?.updatedAt ?? '')
  const check = async () => {
    const progress = await body(
      api.GET('/api/v1/books/{id}/progress', { params: { path: { id: book.id } } }),
    )
    if (!progress || progress.updatedAt <= known.current) return
    if (progress.updatedAt <= lastRecordedAt(book.id)) return
    known.current = progress.updatedAt
    setRemote(shownPages(reader).includes(progress.currentPage) ? null : progress)
  }
  // A response of this device may still be on its way.
  const checkSoon = () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => check().catch(() => {}), 1_000)
  }
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEvents('events', event => {
    if (event.type === 'resync' || (event.type === 'progress_updated' && event.bookId === book.id))
      checkSoon()
  })
  useEffect(() => {
    const onVisible = () => document.visibilityState === 'visible' && checkSoon()
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      clearTimeout(timer.current)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [])
  return {
    remote,
    accept() {
      if (remote) reader.go(remote.currentPage)
      setRemote(null)
    },
    ignore: () => setRemote(null),
  }
}
