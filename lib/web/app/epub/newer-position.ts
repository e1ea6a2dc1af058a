// Newer positions from other devices while a book is open, with an offer to continue there.
import { useRef } from 'preact/hooks'
import { useEvents } from '../api/events.ts'
import { readingDevice } from '../reading/device.ts'
import { t } from '../text/translate.ts'
import { showNotice } from '../ui/toast.tsx'
import type { BookReader } from './book-reader.ts'
import type { Publication } from './content/publication.ts'
import { loadProgression, targetOf } from './progression.ts'

type Opened = { reader: BookReader | null; publication: Publication }

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
