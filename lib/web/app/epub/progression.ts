// Positions of an EPUB on the server (Readium locators): the initial one, recorded ones, newer ones of other devices.

import { useRef } from 'preact/hooks'
import { api } from '../api/client.ts'
import { useEvents } from '../api/events.ts'
import { readingDevice } from '../reading/device.ts'
import type { ReadingPosition } from '../reading/recorder.ts'
import { t } from '../text/translate.ts'
import { showNotice } from '../ui/toast.tsx'
import type { BookReader } from './book-reader.ts'
import { type Publication, pathOf, sectionOf } from './content/publication.ts'
import { type Position, type Target, targetAt } from './view/book-view.ts'

type Locator = {
  href: string
  type: string
  title?: string | null
  locations?: {
    progression?: number | null
    totalProgression?: number | null
    fragments?: string[] | null
  } | null
  text?: { highlight?: string | null } | null
}

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

/** Place of a locator, written by this application or another one. */
export function targetOf(publication: Publication, { href, locations, text }: Locator): Target {
  const path =
    pathOf(publication.id, href)?.path ?? href.replace(/[#?].*$/s, '').replace(/^\/+/, '')
  const section = sectionOf(publication, path)
  const { progression, totalProgression } = locations ?? {}
  if (section < 0) return targetAt(publication, totalProgression ?? 0)
  if (progression == null) {
    const fragment = locations?.fragments?.find(id => !id.includes('('))
    return fragment ? { section, at: { id: fragment } } : { section }
  }
  return { section, at: { progression, text: text?.highlight ?? undefined } }
}

/** A position as the recorder stores it. */
export function recordedPosition(publication: Publication, position: Position): ReadingPosition {
  const { section, progression, totalProgression, isEnd, text, entry } = position
  const { href, type, start, count } = publication.sections[section]!
  const locator = {
    ...{ href, type },
    title: publication.contents[entry]?.title.slice(0, 200),
    locations: {
      progression,
      totalProgression,
      position: Math.min(start + count, start + Math.floor(progression * count) + 1),
    },
    ...(text.trim() && { text: { highlight: text } }),
  }
  const modified = new Date().toISOString()
  return {
    toPercentage: totalProgression,
    r2Progression: JSON.stringify({ modified, device: readingDevice(), locator }),
    pages: [start + Math.floor(progression * count) + 1],
    isEnd,
  }
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
