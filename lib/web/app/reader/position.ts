// Position in the book: recorded while reading, restored after a reload, offered when another device has a newer one.
import { computed, effect, untracked } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useEvents } from '../api/events.ts'
import { can } from '../api/session.ts'
import { localPosition, storeLocalPosition } from '../reading/local-position.ts'
import { lastRecordedAt } from '../reading/outbox.ts'
import { createRecorder, type ReadingPosition } from '../reading/recorder.ts'
import type { Reader, Start } from './reader.ts'

/**
 * The page to open: from the address, otherwise the position of the account or this tab. A finished book starts over.
 */
export function startOf(book: Schemas['Book'], requested: string | null): Start {
  const start = (page: number, isJump: boolean): Start => ({
    page: Math.min(Math.max(1, page), book.pageCount),
    movement: isJump ? 'jumped' : 'opened',
  })
  const page = Number(requested)
  if (Number.isInteger(page) && page > 0) return start(page, page > 1)
  const progress = book.readProgress
  const local = localPosition(book.id)
  const isLocalNewer = local && !(progress && new Date(progress.updatedAt).getTime() > local.at)
  if (isLocalNewer) return start(local.page, local.isJump)
  return start(progress?.completed ? 1 : (progress?.currentPage ?? 1), false)
}

/** Records reading while the reader is shown, unless it is incognito or the account lacks the permission. */
export function useRecording(reader: Reader) {
  const { book } = reader
  const isRecorded = can('ProgressWrite') && !reader.isIncognito.value
  // Immediately rather than after the next rendering, because going to the next book closes the reader.
  useLayoutEffect(() => {
    if (!isRecorded) return
    const recorder = createRecorder({ bookId: book.id })
    const stopFollowing = followPlace(reader, () =>
      recorder.moved(positionOf(reader), reader.movement.value),
    )
    const onActivity = () => recorder.active()
    const events = ['pointerdown', 'pointermove', 'wheel', 'keydown', 'touchmove'] as const
    for (const name of events) addEventListener(name, onActivity, { passive: true })
    return () => {
      for (const name of events) removeEventListener(name, onActivity)
      stopFollowing()
      recorder.stop()
    }
  }, [isRecorded, book.id])
  useLayoutEffect(() => followPlace(reader, () => storeLocally(reader)), [book.id])
}

/** Calls `listener` now and whenever the shown pages, or the way to them, change. */
function followPlace(reader: Reader, listener: () => void): () => void {
  const pages = computed(() => reader.shownPages().join('-'))
  return effect(() => {
    void [pages.value, reader.isLastShown.value, reader.movement.value]
    untracked(listener)
  })
}

function positionOf(reader: Reader): ReadingPosition {
  const { count, isLastShown } = reader
  const pages = reader.shownPages()
  const isEnd = isLastShown.value
  // The server treats the last page as the end, even if only part of it is shown.
  return { toPage: isEnd ? count : Math.min(pages.at(-1)!, count - 1), isEnd, pages }
}

function storeLocally(reader: Reader) {
  storeLocalPosition({
    bookId: reader.book.id,
    page: reader.shownPages()[0]!,
    isJump: reader.movement.value === 'jumped',
  })
}

/** A newer position of another device, with functions to accept and to ignore it. */
export function useRemotePosition(reader: Reader) {
  const { book } = reader
  const [remote, setRemote] = useState<Schemas['Progress'] | null>(null)
  const known = useRef(book.readProgress?.updatedAt ?? '')
  const check = async () => {
    const params = { path: { id: book.id } }
    const progress = await body(api.GET('/api/v1/books/{id}/progress', { params }))
    if (!progress || progress.updatedAt <= known.current) return
    if (progress.updatedAt <= lastRecordedAt(book.id)) return
    known.current = progress.updatedAt
    setRemote(reader.shownPages().includes(progress.currentPage) ? null : progress)
  }
  // A response for this device may still be in flight.
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
