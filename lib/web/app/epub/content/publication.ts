// An EPUB as the server describes it (Readium Web Publication Manifest): documents in reading order, contents, layout.
import { apiUrl, mediaUrl } from '../../api/address.ts'
import { failureOf, noConnection } from '../../api/errors.ts'
import { accessToken } from '../../api/session.ts'

type Link = {
  href: string
  type?: string
  title?: string
  size?: number
  rel?: string
  properties?: { page?: string; spread?: string; layout?: string; encrypted?: object }
  children?: Link[]
}

type Manifest = {
  metadata: {
    title: string
    language?: string | string[]
    readingProgression?: string
    layout?: string
  }
  readingOrder: Link[]
  resources?: Link[]
  toc?: Link[]
}

/** A document of the reading order. */
export type Section = {
  /** Path in the archive, percent-encoded. */
  path: string
  /** As the server writes it, for locators. */
  href: string
  type: string
  /** Positions (1024 bytes each) in it, and before it. */
  count: number
  start: number
  isFixed: boolean
  /** Place in a spread, and when it belongs to one. */
  page: 'left' | 'right' | 'center' | null
  spread: string
  isEncrypted: boolean
}

/** An entry of the table of contents, in order; `path` with the fragment in `id`. */
type ContentsEntry = { title: string; depth: number; path: string; id: string }

export type Publication = {
  id: string
  title: string
  language: string
  /** The book's layout, which documents may override. */
  isFixed: boolean
  /** Whether pages are turned from right to left. */
  isRightToLeft: boolean
  sections: Section[]
  contents: ContentsEntry[]
  positions: number
  /** Decoded paths of all resources that can be loaded. */
  resources: ReadonlySet<string>
}

const positionBytes = 1024

/** Throws ApiError. */
export async function loadPublication(id: string, signal: AbortSignal): Promise<Publication> {
  const response = await fetchAuthorized(mediaUrl(`/books/${id}/manifest/epub`), signal)
  const { metadata, readingOrder, resources = [], toc }: Manifest = await response.json()
  const isFixed = metadata.layout === 'fixed'
  let start = 0
  const sections = readingOrder.map(({ href, type, size, properties }) => {
    const count = isFixed ? 1 : Math.max(1, Math.ceil((size ?? 0) / positionBytes))
    const page = (['left', 'right', 'center'] as const).find(side => side === properties?.page)
    const section: Section = {
      ...{ href, type: type ?? '', count, start },
      path: pathOf(id, href)?.path ?? '',
      isFixed: (properties?.layout ?? metadata.layout) === 'fixed',
      page: page ?? null,
      spread: properties?.spread ?? 'auto',
      isEncrypted: properties?.encrypted !== undefined,
    }
    start += count
    return section
  })
  return {
    ...{ id, isFixed, sections, title: metadata.title },
    language: [metadata.language ?? ''].flat()[0] ?? '',
    isRightToLeft: metadata.readingProgression === 'rtl',
    contents: [...entriesOf(id, toc ?? [], 0)],
    positions: Math.max(1, start),
    resources: new Set(
      [...readingOrder, ...resources]
        .filter(({ properties }) => !properties?.encrypted)
        .flatMap(({ href }) => decode(pathOf(id, href)?.path ?? '') || []),
    ),
  }
}

const maxDepth = 8

function* entriesOf(id: string, links: Link[], depth: number): Generator<ContentsEntry> {
  for (const { title, href, children } of links) {
    const target = pathOf(id, href)
    if (target) yield { title: title?.trim() || '—', depth, ...target }
    yield* entriesOf(id, children ?? [], Math.min(maxDepth, depth + 1))
  }
}

/** The path in the archive and the fragment of a URL of a resource of this book; null for any other URL. */
export function pathOf(id: string, url: string): { path: string; id: string } | null {
  const [address, fragment = ''] = url.split('#', 2) as [string, string?]
  const path = address.replace(/\?.*$/s, '').split(`/books/${id}/resource/`)[1]
  return path ? { path, id: decode(fragment) } : null
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The section of a path; -1 if it is not in the reading order. */
export const sectionOf = ({ sections }: Publication, path: string): number =>
  sections.findIndex(section => decode(section.path) === decode(path))

/** Absolute URL of a path in the archive, without what authenticates it. */
export const resourceUrl = ({ id }: Publication, path: string): string =>
  new URL(apiUrl(`/books/${id}/resource/${path}`), location.href).href

/** The URL a frame uses to load a resource, by its absolute URL; null if it is not part of the book. */
export function loadableUrl({ id, resources }: Publication, url: string): string | null {
  const target = url.startsWith(`${location.origin}/`) ? pathOf(id, url) : null
  if (!target || !resources.has(decode(target.path))) return null
  const fragment = target.id && `#${encodeURIComponent(target.id)}`
  return mediaUrl(`/books/${id}/resource/${target.path}`) + fragment
}

const maxTextBytes = 32 * 1024 * 1024

/** A text resource, decoded by its byte order mark or its XML or CSS declaration. Throws ApiError. */
export async function fetchText(
  { id }: Publication,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetchAuthorized(mediaUrl(`/books/${id}/resource/${path}`), signal)
  const bytes = new Uint8Array(await response.arrayBuffer())
  return decoderOf(bytes).decode(bytes.subarray(0, maxTextBytes))
}

function decoderOf(bytes: Uint8Array): TextDecoder {
  const [first, second] = bytes
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be')
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le')
  const head = String.fromCharCode(...bytes.subarray(0, 200))
  const name = /^(?:<\?xml[^>]*encoding=["']|@charset ")([\w-]+)/.exec(head)?.[1]
  try {
    return new TextDecoder(name ?? 'utf-8')
  } catch {
    return new TextDecoder()
  }
}

async function fetchAuthorized(url: string, signal: AbortSignal): Promise<Response> {
  const token = await accessToken()
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(url, { signal, headers }).catch(error => {
    throw signal.aborted ? error : noConnection()
  })
  if (!response.ok) throw await failureOf(response)
  return response
}
