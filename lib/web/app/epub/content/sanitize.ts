// Sanitizing of documents of EPUBs before they are shown: without scripts, handlers, forms, frames, and without URLs
// outside the book. The frame's policies forbid all of it, too; removing it first avoids the browser's reports.
import { cleanStyle, type ResolveUrl } from './style-sheet.ts'

const removed = [
  'script, noscript, template, iframe, frame, frameset, noframes, object, embed, applet, base, meta, link, param',
  'portal, fencedframe, title, dialog, handler, listener, set, discard',
].join(', ')

const xlink = 'http://www.w3.org/1999/xlink'
const xml = 'http://www.w3.org/XML/1998/namespace'

/** Attributes with URLs by the elements that may have them; they are removed everywhere else. */
const urlAttributes: Record<string, readonly string[]> = {
  src: ['img', 'audio', 'video', 'source', 'track'],
  poster: ['video'],
  href: [
    'a',
    'area',
    'image',
    'feimage',
    'use',
    ...['lineargradient', 'radialgradient', 'pattern', 'filter', 'textpath', 'mpath'],
  ],
  srcset: ['img', 'source'],
  usemap: ['img'],
}
const removedAttributes = new Set(
  `action formaction background data longdesc cite ping manifest codebase archive classid profile
  icon dynsrc lowsrc srcdoc target download autoplay altimg is slot autofocus accesskey
  contenteditable popover popovertarget`.split(/\s+/),
)

type Resolvers = {
  /** Absolute form of a URL in the document; null if it is not valid. */
  absolute: (url: string) => string | null
  /** The URL to load in place of an absolute URL; null for nothing. */
  loadable: ResolveUrl
}

/**
 * The source of a document without scripts and base addresses, and with renamed handlers such as `onclick`: a
 * browser reports them while parsing, even in an inert document.
 */
export const withoutScripts = (source: string): string =>
  withoutPairs(
    withoutPairs(source, /<!--[\s\S]*?-->/g, /-->/g).replace(/<script\b[^<>]*\/>/gi, ''),
    /<script\b[\s\S]*?<\/script\s*>/gi,
    /<\/script\s*>/gi,
  )
    .replace(/<\/?base\b[^<>]*>/gi, '')
    .replace(/<[a-z][^<>]*/gi, tag => tag.replace(/([\s/"'])(on\w+\s*=)/gi, '$1data-$2'))

/** Removes closed elements. Finding the last end first keeps it linear: every later search for an end succeeds. */
function withoutPairs(text: string, pairs: RegExp, close: RegExp): string {
  let end = 0
  for (const { index, 0: match } of text.matchAll(close)) end = index + match.length
  return text.slice(0, end).replace(pairs, '') + text.slice(end)
}

/** Changes the document in place. */
export function sanitize(document: Document, resolvers: Resolvers) {
  for (const element of document.querySelectorAll(removed)) element.remove()
  for (const animation of document.querySelectorAll('animate, animateTransform, animateMotion'))
    if (
      !/^(?:|[a-z-]+)$/.test(animation.getAttribute('attributeName') ?? '') ||
      /href|^on|style/i.test(animation.getAttribute('attributeName') ?? '')
    )
      animation.remove()
  for (const control of document.querySelectorAll('button, input, select, textarea')) {
    control.setAttribute('disabled', '')
    if (control.getAttribute('type')?.toLowerCase() === 'image') control.remove()
  }
  limitDepth(document)
  for (const element of document.querySelectorAll('*')) sanitizeAttributes(element, resolvers)
}

/** The limit of HTML parsers. XML has none, and a few thousand nested elements crash the page's process. */
const maxDepth = 512

/** Elements below the maximum depth become text. */
function limitDepth(document: Document) {
  const depths = new Map<Element, number>()
  for (const element of document.querySelectorAll('*')) {
    if (!element.isConnected) continue
    const depth = (depths.get(element.parentElement!) ?? 0) + 1
    depths.set(element, depth)
    if (depth === maxDepth) element.replaceChildren(element.textContent)
  }
}

function sanitizeAttributes(element: Element, resolvers: Resolvers) {
  const tag = element.localName.toLowerCase()
  for (const attribute of [...element.attributes]) {
    const name = attribute.localName.toLowerCase()
    const next = sanitized({ tag, name, attribute, element }, resolvers)
    if (next === attribute.value) continue
    if (next === null) element.removeAttributeNode(attribute)
    else attribute.value = next
  }
}

type AttributeContext = { tag: string; name: string; attribute: Attr; element: Element }

/** The permitted value of an attribute; null to remove it. */
function sanitized(
  { tag, name, attribute, element }: AttributeContext,
  resolvers: Resolvers,
): string | null {
  const { value, namespaceURI } = attribute
  const { absolute } = resolvers
  const load = (url: string) => loadableOf(url, resolvers)
  if (/^(?:data-)?on/.test(name) || removedAttributes.has(name)) return null
  if (namespaceURI === xml && name === 'base') return null
  if (name === 'data-link') return null
  if (name === 'style')
    return /url|\\|image|src|var\(|font|line-height/i.test(value)
      ? cleanStyle((element as HTMLElement).style, load)
      : value
  if (Object.hasOwn(urlAttributes, name)) {
    if (!urlAttributes[name]!.includes(tag)) return null
    if (name === 'srcset') return srcset(value, load)
    if (name === 'usemap') return value.startsWith('#') ? value : null
    if (tag === 'a' || tag === 'area') {
      makeLink(element, absolute(value))
      return null
    }
    if (tag !== 'img' && name === 'href' && value.trim().startsWith('#')) return value.trim()
    if (['image', 'feimage', 'img', 'audio', 'video', 'source', 'track'].includes(tag))
      return load(value)
    return null
  }
  if (namespaceURI === xlink) return ['title', 'type', 'show'].includes(name) ? value : null
  // Presentation attributes of SVG, such as `fill`.
  if (/url\(|\\/i.test(value) && !/^(?:alt|title|class|id|name|content|d|aria-.*)$/.test(name))
    return /^\s*url\(\s*["']?#[^"'()\\]*["']?\s*\)[\s\w#]*$/i.test(value) ? value : null
  return value
}

function loadableOf(url: string, { absolute, loadable }: Resolvers): string | null {
  const trimmed = url.trim()
  if (/^data:(?:image|font|audio|video|application\/(?:x-)?font)/i.test(trimmed)) return trimmed
  const resolved = absolute(trimmed)
  return resolved === null ? null : loadable(resolved)
}

/**
 * Only the application follows links: a frame that followed one itself would leave the document, and not all
 * browsers run the listeners that would prevent it.
 */
function makeLink(element: Element, url: string | null) {
  if (url === null || !/^(?:https?|mailto|tel):/i.test(url)) return
  element.setAttribute('data-link', url)
  // References to notes are links, too.
  if (!element.hasAttribute('role')) element.setAttribute('role', 'link')
  element.setAttribute('tabindex', '0')
}

function srcset(value: string, load: ResolveUrl): string | null {
  const candidates = value.split(/,\s+/).flatMap(candidate => {
    const [url = '', ...descriptors] = candidate.trim().split(/\s+/)
    const resolved = load(url)
    return resolved === null ? [] : [[resolved, ...descriptors].join(' ')]
  })
  return candidates.length > 0 ? candidates.join(', ') : null
}
