// What the pointer reaches in displayed documents: links that are followed, media and details, selected text.
import { signal } from '@preact/signals'
import { parseDocument } from './content/document.ts'
import { fetchText, type Publication, pathOf, sectionOf } from './content/publication.ts'
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

type Destination =
  | { kind: 'internal'; section: number; path: string; id: string }
  | { kind: 'external'; url: string }

/** Target of a link in a sanitized document; null if it has none. */
function destinationOf(publication: Publication, link: Element): Destination | null {
  const written = link.getAttribute('data-link')
  if (!written) return null
  const url = new URL(written)
  if (url.origin !== location.origin) return { kind: 'external', url: url.href }
  const target = pathOf(publication.id, url.href)
  const section = target ? sectionOf(publication, target.path) : -1
  return target && section >= 0 ? { kind: 'internal', section, ...target } : null
}

const noteTypes = /(?:^|\s)(?:footnote|endnote|rearnote|note|doc-footnote|doc-endnote)(?:\s|$)/
const referenceTypes = /(?:^|\s)(?:noteref|doc-noteref)(?:\s|$)/
const maxNoteLength = 4_000

const typesOf = (element: Element) =>
  `${element.getAttribute('epub:type') ?? element.getAttributeNS('http://www.idpf.org/2007/ops', 'type') ?? ''} ${element.getAttribute('role') ?? ''}`

type NoteRequest = {
  link: Element
  path: string
  id: string
  /** The document with the link. */
  shown: { document: Document; path: string }
  signal: AbortSignal
}

/** The paragraphs of the note a link refers to; null for other links. Throws ApiError. */
async function noteOf(
  publication: Publication,
  { link, path, id, shown, signal }: NoteRequest,
): Promise<string[] | null> {
  const isReference = referenceTypes.test(typesOf(link))
  if (!id || (path !== shown.path && !isReference)) return null
  const document =
    path === shown.path
      ? shown.document
      : parseDocument(shown.document.defaultView!, await fetchText(publication, path, signal), '')
  const target = document.getElementById(id)
  const note = target?.closest('aside, li, p, dd, div') ?? target
  if (!note || !(isReference || noteTypes.test(typesOf(note)))) return null
  const blocks = [...note.querySelectorAll('p, li, blockquote')]
  const paragraphs = (blocks.length > 0 ? blocks : [note])
    .map(block => block.textContent.replace(/\s+/g, ' ').trim())
    .filter(text => text !== '')
  const length = paragraphs.reduce((sum, text) => sum + text.length, 0)
  return length > 0 && length <= maxNoteLength ? paragraphs : null
}

/** Selected text in the displayed documents. */
export function createSelection(view: () => BookView) {
  const selections = () =>
    view()
      .documents()
      .map(document => document.getSelection())
  return {
    /** Selects between two points of the window. */
    select(from: Point, to: Point) {
      const start = view().documentAt(from.x, from.y)
      const end = view().documentAt(to.x, to.y)
      if (!start || start.document !== end?.document) return
      const [first, last] = [caretAt(start.document, start), caretAt(start.document, end)]
      if (first && last)
        start.document
          .getSelection()
          ?.setBaseAndExtent(first.node, first.offset, last.node, last.offset)
    },
    /** False if nothing was selected. */
    clear(): boolean {
      const found = selections().filter(selection => selection && !selection.isCollapsed)
      for (const selection of found) selection?.removeAllRanges()
      return found.length > 0
    },
    text: () =>
      selections()
        .map(selection => selection?.toString() ?? '')
        .join(''),
  }
}

function caretAt(document: Document, { x, y }: Point) {
  if (document.caretPositionFromPoint) {
    const position = document.caretPositionFromPoint(x, y)
    return position && { node: position.offsetNode, offset: position.offset }
  }
  const range = document.caretRangeFromPoint(x, y)
  return range && { node: range.startContainer, offset: range.startOffset }
}

/** Plays or pauses media, opens details; whether there were any at this point of a document. */
export function operateAt(shown: ReturnType<BookView['documentAt']>): boolean {
  const target = shown?.document.elementFromPoint(shown.x, shown.y)
  const media = target?.closest<HTMLMediaElement>('audio, video')
  const details = target?.closest('summary')?.closest('details')
  if (details) details.open = !details.open
  if (media?.paused) void media.play().catch(() => {})
  else media?.pause()
  return Boolean(details ?? media)
}
