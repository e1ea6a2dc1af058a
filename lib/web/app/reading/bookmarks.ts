// Bookmarks of an open book: loaded with it, changed by the reader, followed when another tab or device changes them.
import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { allItems, api, type Schemas } from '../api/client.ts'
import { useEvents } from '../api/events.ts'
import { can } from '../api/session.ts'
import { t } from '../text/translate.ts'
import { showError, showNotice } from '../ui/toast.tsx'
import { randomUuid } from './device.ts'

export type Bookmark = Schemas['Annotation']
export type ReadiumLocator = Schemas['ReadiumLocator']
export type Bookmarks = ReturnType<typeof createBookmarks>

/** The displayed part of the book. */
export type BookmarkPlace = {
  locator: ReadiumLocator
  /** Whether a bookmark is in it. */
  isShown: (bookmark: Bookmark) => boolean
}

/** `place` reads signals; null while nothing is displayed. */
export function createBookmarks(bookId: string, place: () => BookmarkPlace | null) {
  const { list, error, load, add, edit, remove } = createList(bookId)
  /** The bookmark whose note is edited, and the note so far. */
  const editing = signal<{ id: string; note: string } | null>(null)
  const isUnsaved = computed(() => {
    const edited = list.value.find(({ id }) => id === editing.value?.id)
    return edited !== undefined && (edited.note ?? '') !== editing.value!.note
  })
  /** Bookmarks in the displayed part. */
  const here = computed(() => {
    const current = place()
    return current ? list.value.filter(current.isShown) : []
  })

  async function removeUndoably(removed: readonly Bookmark[]): Promise<void> {
    await remove(removed)
    const run = async () => {
      for (const { locator, note } of removed) if (locator) await add(locator, note)
    }
    showNotice(t('bookmark.deleted'), { text: t('organize.undo'), run })
  }

  /** Sets one at the displayed place, or removes those that are there. */
  async function toggle(): Promise<void> {
    const current = place()
    if (!current || !canBookmark()) return
    try {
      if (here.value.length > 0) return await removeUndoably(here.value)
      const id = await add(current.locator, null)
      const run = () => void (editing.value = { id, note: '' })
      showNotice(t('bookmark.added'), { text: t('bookmark.addNote'), run })
    } catch (failure) {
      showError(failure)
    }
  }
  return { list, error, editing, isUnsaved, here, load, toggle, edit, remove: removeUndoably }
}

/** The bookmarks of the server. Changes are shown at once, and taken back if they fail. Throws ApiError. */
function createList(bookId: string) {
  const list = signal<readonly Bookmark[]>([])
  const error = signal<Error | null>(null)
  const ofBook = { path: { id: bookId } }
  const one = (id: string) => ({ path: { id: bookId, annotationId: id } })
  let loads = 0

  async function load(): Promise<void> {
    const number = ++loads
    const kind = 'bookmark' as const
    const page = (query: { page: number; pageSize: number }) =>
      api.GET('/api/v1/books/{id}/annotations', {
        params: { ...ofBook, query: { ...query, kind } },
      })
    try {
      const items = await allItems(page)
      if (number !== loads) return
      list.value = items
      error.value = null
    } catch (failure) {
      if (number === loads) error.value = failure as Error
    }
  }
  async function change(next: readonly Bookmark[], send: () => Promise<unknown>): Promise<void> {
    const before = list.value
    list.value = next
    loads += 1
    try {
      await send()
    } catch (failure) {
      list.value = before
      throw failure
    }
    await load()
  }
  return {
    list,
    error,
    load,
    /** Returns its id. */
    async add(locator: ReadiumLocator, note: string | null): Promise<string> {
      const sent = { id: randomUuid(), kind: 'bookmark', locator, note } as const
      const now = new Date().toISOString()
      const empty = { text: null, color: null, devicePosition: null, deletedAt: null }
      const added = { ...empty, ...sent, bookId, createdAt: now, updatedAt: now }
      await change([...list.value, added], () =>
        api.POST('/api/v1/books/{id}/annotations', { params: ofBook, body: sent }),
      )
      return sent.id
    },
    edit: (id: string, note: string | null) =>
      change(
        list.value.map(bookmark => (bookmark.id === id ? { ...bookmark, note } : bookmark)),
        () =>
          api.PATCH('/api/v1/books/{id}/annotations/{annotationId}', {
            params: one(id),
            body: { note },
          }),
      ),
    remove: (removed: readonly Bookmark[]) =>
      change(
        list.value.filter(bookmark => !removed.includes(bookmark)),
        () =>
          Promise.all(
            removed.map(({ id }) =>
              api.DELETE('/api/v1/books/{id}/annotations/{annotationId}', { params: one(id) }),
            ),
          ),
      ),
  }
}

/** Whether the account may have bookmarks. */
export const canBookmark = (): boolean => can('ProgressWrite') || can('BooksWrite')

/** Loads them now and after changes elsewhere. */
export function useBookmarks(bookId: string, bookmarks: Bookmarks | undefined): void {
  useEffect(() => void bookmarks?.load(), [bookmarks])
  useEvents('events', event => {
    const isOfBook = event.type === 'annotation_updated' && event.bookId === bookId
    if (isOfBook || event.type === 'resync') void bookmarks?.load()
  })
}
