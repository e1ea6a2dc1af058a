// Positions of an EPUB on the server: the initial one, and newer ones of other devices.
import { useRef } from 'preact/hooks'
import { api } from '../api/client.ts'
import { useEvents } from '../api/events.ts'
import { readingDevice } from '../reading/device.ts'
import { t } from '../text/translate.ts'
import { showNotice } from '../ui/toast.tsx'
import type { BookReader } from './book-reader.ts'
import type { Publication } from './content/publication.ts'
import { type Locator, targetOf } from './locator.ts'

type Progression = {
  modified: string
  device: { id: string; name: string }
  locator: Locator
}

/** Null if the book was not started. Throws ApiError. */
export async function loadProgression(
  id: string,
  signal?: AbortSignal,
): Promise<Progression | null> {
  const { data } = await api.GET('/api/v1/books/{id}/progression', {
    params: { path: { id } },
    ...(signal && { signal }),
  })
  return (data as Progression | undefined) ?? null
}

type Opened = { reader: BookReader | null; publication: Publication }

/** Offers to continue at newer positions from other devices while a book is open. */
export function useNewerPosition({ reader, publication }: Opened) {
  const offered = useRef(new Date().toISOString())
  useEvents('events', event => {
    const isThis = event.type === 'progress_updated' && event.bookId === publication.id
    if (!reader || !isThis) return
    void loadProgression(publication.id)
      .then(progression => {
        if (!progression || progression.device.id === readingDevice().id) return
        if (new Date(progression.modified) <= new Date(offered.current)) return
        offered.current = progression.modified
        const target = targetOf(publication, progression.locator)
        const run = () => void reader.jump(target)
        showNotice(t('epub.newerPosition', { device: progression.device.name }), {
          text: t('reader.goThere'),
          run,
        })
      })
      .catch(() => {})
  })
}
