// Links in documents of EPUBs: targets, and the text of notes.
import { parseDocument } from './document.ts'
import { fetchText, type Publication, pathOf, sectionOf } from './publication.ts'

type Destination =
  | { kind: 'internal'; section: number; path: string; id: string }
  | { kind: 'external'; url: string }

/** Target of a link in a sanitized document; null if it has none. */
export function destinationOf(publication: Publication, link: Element): Destination | null {
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
export async function noteOf(
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
