// Followed links: to other places in the book, to notes, or out of the book.
import { signal } from '@preact/signals'
import { destinationOf, noteOf } from './content/links.ts'
import type { Publication } from './content/publication.ts'
import type { BookView, Target } from './view/book-view.ts'

type Note = { paragraphs: string[]; target: Target }
type DisplayedDocument = { document: Document; path: string }
export type Point = { x: number; y: number }

type FollowingOptions = {
  publication: Publication
  view: () => BookView
  jump: (target: Target) => unknown
}

export function createFollowing({ publication, view, jump }: FollowingOptions) {
  const note = signal<Note | null>(null)
  const externalLink = signal<string | null>(null)
  const closing = new AbortController()

  async function follow(link: Element, shown: DisplayedDocument) {
    const destination = destinationOf(publication, link)
    if (destination?.kind === 'external') externalLink.value = destination.url
    if (destination?.kind !== 'internal') return
    const { section, path, id } = destination
    const target: Target = { section, ...(id && { at: { id } }) }
    const request = { link, path, id, shown, signal: closing.signal }
    const paragraphs = await noteOf(publication, request).catch(() => null)
    if (paragraphs) note.value = { paragraphs, target }
    else await jump(target)
  }

  function linkAt({ x, y }: Point) {
    const shown = view().documentAt(x, y)
    const link = shown?.document.elementFromPoint(shown.x, shown.y)?.closest('[data-link]')
    return shown && link ? { link, shown } : null
  }

  return {
    ...{ note, externalLink, follow },
    /** False if there is no link at this point of the window. */
    followAt(point: Point): boolean {
      const found = linkAt(point)
      if (found) void follow(found.link, found.shown)
      return found !== null
    },
    isLinkAt: (point: Point) => linkAt(point) !== null,
    dispose: () => closing.abort(),
  }
}
