// Documents of EPUBs in frames: fetched, parsed inertly, sanitized, and put into a sandboxed frame in which
// no script of a book can run.
import { assetUrl } from '../../api/assets.ts'
import { fetchText, loadableUrl, type Publication, resourceUrl } from './publication.ts'
import { sanitize, withoutScripts } from './sanitize.ts'
import { cleanStyleSheet, splitImports } from './style-sheet.ts'

export type BookDocument = {
  frame: HTMLIFrameElement
  document: Document
  /** Path in the archive. */
  path: string
  /** Size of a page of fixed layout, in CSS pixels; null if the document does not say. */
  size: { width: number; height: number } | null
}

type Request = { host: HTMLElement; path: string; type: string; title: string; signal: AbortSignal }

const frameUrl = assetUrl('epub/content/frame.html')

/** Opens a path of the book in a frame at the end of `host`, hidden at first. Throws ApiError. */
export async function openDocument(
  publication: Publication,
  { host, path, type, title, signal }: Request,
): Promise<BookDocument> {
  const isImage = /^image\/(?!svg)/.test(type)
  const fetched = isImage ? Promise.resolve('') : fetchText(publication, path, signal)
  fetched.catch(() => {})
  const frame = await createFrame({ host, title, path, signal })
  try {
    const source = await fetched
    const book = { publication, path, base: resourceUrl(publication, path), signal }
    const parsed = isImage
      ? imageDocument(frame, book)
      : parseDocument(frame.contentWindow!, source, type)
    const size = pageSize(parsed)
    const styles = await styleTexts(parsed, book)
    sanitize(parsed, {
      absolute: url => absoluteUrl(url, book.base),
      loadable: url => loadableUrl(publication, url),
    })
    signal.throwIfAborted()
    const target = frame.contentDocument!
    fill(target, parsed, styles)
    // For hyphens, quotes and fonts, where the document does not state its own.
    if (publication.language) target.documentElement.lang ||= publication.language
    return { frame, document: target, path, size }
  } catch (error) {
    frame.remove()
    throw error
  }
}

type FrameRequest = Omit<Request, 'type'>

// Without `allow-scripts` nothing in a frame runs; the application reads and styles its document.
let sandbox = 'allow-same-origin'

async function createFrame(request: FrameRequest): Promise<HTMLIFrameElement> {
  const frame = await loadFrame(request)
  if (/scripts/.test(sandbox) || hearsEvents(frame.contentDocument!)) return frame
  // WebKit then skips the application's listeners, too (https://bugs.webkit.org/show_bug.cgi?id=218086), and
  // keys and links would be dead. The frame's policy allows no script in any browser.
  sandbox = 'allow-same-origin allow-scripts'
  frame.remove()
  return await loadFrame(request)
}

function hearsEvents(target: Document): boolean {
  let isHeard = false
  const listen = () => {
    isHeard = true
  }
  target.addEventListener('probe', listen, { once: true })
  target.dispatchEvent(new Event('probe'))
  return isHeard
}

async function loadFrame({ host, title, path, signal }: FrameRequest) {
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', sandbox)
  frame.className = 'epub-frame'
  frame.title = title
  frame.dataset.path = path
  frame.src = frameUrl
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      frame.remove()
      reject(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    const loaded = () => {
      signal.removeEventListener('abort', stop)
      resolve()
    }
    frame.addEventListener('load', loaded, { once: true })
    host.append(frame)
  })
  return frame
}

type Source = { publication: Publication; path: string; base: string; signal: AbortSignal }

function imageDocument(frame: HTMLIFrameElement, { publication, base }: Source): Document {
  const parsed = frame.contentDocument!.implementation.createHTMLDocument('')
  const image = parsed.createElement('img')
  image.src = base
  image.alt = publication.title
  parsed.body.append(image)
  return parsed
}

/** Elements that XML may close but HTML does not. */
const closedInXml =
  /<(title|script|style|a|div|span|p|i|b|em|strong|td|th|tr|textarea|iframe)(\s[^<>]*)?\/>/gi

/** Parsed in the frame, whose policy allows inline styles. Malformed XHTML is read as HTML. */
export function parseDocument(frame: Window, source: string, type: string): Document {
  const { DOMParser } = frame as unknown as typeof globalThis
  const parser = new DOMParser()
  const parse = (text: string, type: DOMParserSupportedType) => {
    const parsed = parser.parseFromString(text, type)
    removeNames(parsed)
    return parsed
  }
  const text = withoutScripts(source)
  if (/xml/.test(type) || /^\s*<\?xml/.test(text)) {
    const isSvg = /svg/.test(type)
    const parsed = parse(text, isSvg ? 'image/svg+xml' : 'application/xhtml+xml')
    if (!parsed.querySelector('parsererror') && (isSvg || parsed.body)) return parsed
  }
  return parse(text.replace(closedInXml, '<$1$2></$1>'), 'text/html')
}

function absoluteUrl(url: string, base: string): string | null {
  try {
    return new URL(url.trim(), base).href
  } catch {
    return null
  }
}

/** Style sheets in order, including linked ones. Missing ones are skipped. */
async function styleTexts(parsed: Document, source: Source): Promise<string[]> {
  const elements = [...parsed.querySelectorAll('link, style')].filter(
    element =>
      element.localName === 'style' ||
      (/(?:^|\s)stylesheet(?:\s|$)/i.test(element.getAttribute('rel') ?? '') &&
        !/alternate/i.test(element.getAttribute('rel') ?? '')),
  )
  const texts = elements.map(async element => {
    const media = element.getAttribute('media')
    const text =
      element.localName === 'style'
        ? await importedText(element.textContent, source.base, source)
        : await sheetText(absoluteUrl(element.getAttribute('href') ?? '', source.base), source)
    element.remove()
    return media && text ? `@media ${media.replace(/[{};]/g, '')} {\n${text}\n}` : text
  })
  return await Promise.all(texts)
}

const maxImportDepth = 4

async function sheetText(url: string | null, source: Source, depth = 0): Promise<string> {
  const { publication, signal } = source
  const target = url && loadableUrl(publication, url)
  if (!target || depth > maxImportDepth) return ''
  const path = target.split(`/books/${publication.id}/resource/`)[1]!.replace(/[?#].*$/s, '')
  try {
    return await importedText(await fetchText(publication, path, signal), url, source, depth + 1)
  } catch (error) {
    if (signal.aborted) throw error
    return ''
  }
}

/** A style sheet, preceded by its imports. */
async function importedText(
  text: string,
  base: string,
  source: Source,
  depth = 0,
): Promise<string> {
  const { urls, rest } = splitImports(text)
  const imported = urls.map(url => sheetText(absoluteUrl(url, base), source, depth))
  const cleaned = cleanStyleSheet(rest, url => {
    if (/^data:/i.test(url) || url.startsWith('#')) return url
    const absolute = absoluteUrl(url, base)
    return absolute === null ? null : loadableUrl(source.publication, absolute)
  })
  return [...(await Promise.all(imported)), cleaned].join('\n')
}

/** Moves the contents of a sanitized document into a frame's document. */
function fill(target: Document, parsed: Document, styles: readonly string[]) {
  const root = parsed.documentElement
  const body = parsed.body ?? null
  for (const { name, value } of body ? root.attributes : [])
    setAttribute(target.documentElement, name, value)
  for (const text of styles) {
    const style = target.createElement('style')
    style.textContent = text
    target.head.append(style)
  }
  if (!body) {
    target.body.replaceChildren(target.adoptNode(root))
    return
  }
  for (const { name, value } of body.attributes) setAttribute(target.body, name, value)
  target.body.replaceChildren(...[...body.childNodes].map(node => target.adoptNode(node)))
}

function setAttribute(element: Element, name: string, value: string) {
  if (/^(?:lang|xml:lang|dir|class|id|style|epub:type|role)$/.test(name))
    element.setAttribute(name === 'xml:lang' ? 'lang' : name, value)
}

/** From the viewport of a page or the view box of an SVG document. */
function pageSize(parsed: Document): BookDocument['size'] {
  const viewport = parsed.querySelector('meta[name="viewport" i]')?.getAttribute('content') ?? ''
  const width = Number(/width\s*=\s*([\d.]+)/i.exec(viewport)?.[1])
  const height = Number(/height\s*=\s*([\d.]+)/i.exec(viewport)?.[1])
  if (width > 0 && height > 0) return { width, height }
  const root = parsed.documentElement
  const svg = root.localName === 'svg' ? root : null
  const [, , boxWidth, boxHeight] = (svg?.getAttribute('viewBox') ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number)
  return boxWidth! > 0 && boxHeight! > 0 ? { width: boxWidth!, height: boxHeight! } : null
}

// A browser finds elements by their names among the properties of documents and forms, so that `<img name="body">` would
// replace `document.body`, and `<select name="attributes">` the attributes of its form, which would then not be
// sanitized (DOM clobbering).

// Taken from the prototypes, because properties of the document itself may be replaced.
const { querySelectorAll } = Document.prototype
const { removeAttribute } = Element.prototype

/** Anchors and maps are also found by name, but not as properties. */
const named = '[name]:not(a, map, meta)'
/** Forms expose their controls and images by id, documents their objects. */
const identified =
  ':is(button, embed, fieldset, input, object, output, select, textarea, form img)[id]'

/** Removes names and ids that replace properties from a freshly parsed document. */
function removeNames(parsed: Document) {
  for (const element of querySelectorAll.call(parsed, named)) removeAttribute.call(element, 'name')
  for (const element of querySelectorAll.call(parsed, identified))
    removeAttribute.call(element, 'id')
}
