// Lenient XML parser: a tree of everything readable before, between and after errors.
//
//   document  = [mark] [space] [declaration] [doctype] element
//   entity    = known to XML or HTML | short literal of the doctype; others remain text
import { decodeHTMLStrict } from 'entities/decode'
import { SaxesParser } from 'saxes'
import { decodeText } from './decode.ts'
import { singleLine } from './text.ts'

/** `name` and attribute names are local names in lowercase; `prefix` is the part before the colon. */
export type XmlElement = {
  name: string
  prefix: string
  attributes: ReadonlyMap<string, string>
  children: (XmlElement | string)[]
}

const maxBytes = 16 * 1024 * 1024
const maxElements = 250_000
const maxDepth = 128
const maxAttributes = 1000
const maxStrays = 10_000
const maxErrors = 500
const maxExpansions = 1000
const maxEntityLength = 200

const limitReached = new Error('enough')
const noAttributes: ReadonlyMap<string, string> = new Map()

/** Never throws. `root` is null when there is no element. Depth, elements and entity expansions are limited. */
export function parseXml(bytes: Uint8Array): { root: XmlElement | null; warnings: string[] } {
  const { text, warnings } = decodeXml(bytes.subarray(0, maxBytes))
  if (bytes.length > maxBytes) warnings.push('XML is too large, only the beginning was read')
  const document: XmlElement = { name: '', prefix: '', attributes: noAttributes, children: [] }
  const errors: string[] = []
  try {
    createParser(document, errors).write(escapeStray(text)).close()
  } catch (cause) {
    errors.push(
      cause === limitReached ? 'too many elements, levels or errors' : 'the rest is not XML',
    )
  }
  const first = singleLine(errors[0])?.slice(0, 120)
  if (first !== undefined) warnings.push(`XML is not well formed (${errors.length}): ${first}`)
  const root = document.children.find(node => typeof node !== 'string') ?? null
  return { root, warnings }
}

function createParser(document: XmlElement, errors: string[]) {
  const parser = new SaxesParser({ position: false as const, xmlns: false as const })
  const open = [document]
  let elements = 0
  let attributes = 0
  const text = (value: string) => {
    open.at(-1)?.children.push(value.trim() === '' ? ' ' : value)
  }
  const declared: Record<string, string> = Object.create(null)
  parser.ENTITIES = new Proxy(declared, {
    get: (_, name) => htmlEntity(String(name)) ?? declared[String(name)],
  })
  parser.on('doctype', doctype => declareEntities(declared, doctype))
  parser.on('text', text)
  parser.on('cdata', text)
  parser.on('attribute', () => {
    if (++attributes > maxAttributes) throw limitReached
  })
  parser.on('opentag', tag => {
    attributes = 0
    if (++elements > maxElements || open.length > maxDepth) throw limitReached
    const element = elementOf(tag)
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => {
    open.pop()
  })
  parser.on('error', error => {
    errors.push(error.message)
    if (errors.length >= maxErrors) throw limitReached
  })
  return parser
}

function elementOf(tag: { name: string; attributes: Record<string, string> }): XmlElement {
  const [name, prefix] = localName(tag.name)
  const attributes = new Map<string, string>()
  for (const [qualified, value] of Object.entries(tag.attributes)) {
    const [local, space] = localName(qualified)
    if (space === 'xmlns' || qualified === 'xmlns') continue
    if (space === '' || !attributes.has(local)) attributes.set(local, value)
  }
  return { name, prefix, attributes: attributes.size > 0 ? attributes : noAttributes, children: [] }
}

function localName(qualified: string): [local: string, prefix: string] {
  const colon = qualified.lastIndexOf(':')
  return [qualified.slice(colon + 1).toLowerCase(), qualified.slice(0, Math.max(0, colon))]
}

/** The value of a named HTML entity. */
function htmlEntity(name: string): string | undefined {
  const reference = `&${name};`
  const value = decodeHTMLStrict(reference)
  return value === reference ? undefined : value
}

/**
 * Only short literals with a limited number of expansions: nested and external entities are never expanded.
 */
function declareEntities(entities: Record<string, string>, doctype: string): void {
  let expansions = 0
  const literal = /<!ENTITY\s+([\w.-]{1,64})\s+(?:"([^"<&%]{0,200})"|'([^'<&%]{0,200})')\s*>/g
  for (const [, name, double, single] of doctype.slice(0, 65_536).matchAll(literal)) {
    const value = (double ?? single ?? '').slice(0, maxEntityLength)
    if (name === undefined || name in entities) continue
    const get = () => (expansions++ < maxExpansions ? value : '')
    Object.defineProperty(entities, name, { get })
  }
}

function decodeXml(bytes: Uint8Array): { text: string; warnings: string[] } {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(1024, bytes.length))
  const declared = /^[^<]{0,256}<\?xml\s[^>]{0,256}?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(
    head.toString('latin1'),
  )
  const { text, warnings } = decodeText(bytes, declared?.[1] ?? null)
  // White space before the declaration is common, although not well-formed.
  let end = text.length
  while (text.charCodeAt(end - 1) <= 0x20) end--
  return { text: text.slice(Math.max(0, text.indexOf('<')), end), warnings }
}

const stray = /&(?!#?[\w.:-]{1,64};)|<(?![a-z_:/!?\u0080-\uffff])/gi

/**
 * Escapes `AT&T` and `1 < 2`, where a strict parser would skip the text up to the next `;` or `>`. Leaves
 * CDATA unchanged.
 */
function escapeStray(text: string): string {
  if (text.search(stray) < 0) return text
  let strays = 0
  const escaped = (character: string) => {
    if (++strays > maxStrays) return character
    return character === '&' ? '&amp;' : '&lt;'
  }
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('<![CDATA[', at)
    const end = start < 0 ? -1 : text.indexOf(']]>', start)
    parts.push(text.slice(at, end < 0 ? text.length : start).replace(stray, escaped))
    if (end >= 0) parts.push(text.slice(start, end))
    at = end < 0 ? text.length : end
  }
  return parts.join('')
}

/** Child elements, optionally only those with a name. */
export function childrenOf(element: XmlElement | undefined, name?: string): XmlElement[] {
  const elements: XmlElement[] = []
  for (const node of element?.children ?? []) {
    if (typeof node !== 'string' && (name === undefined || node.name === name)) elements.push(node)
  }
  return elements
}

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return childrenOf(element, name)[0]
}

/** All descendant elements in document order. */
export function* descendantsOf(element: XmlElement): Generator<XmlElement> {
  for (const node of element.children) {
    if (typeof node === 'string') continue
    yield node
    yield* descendantsOf(node)
  }
}

/** The direct text of an element, excluding its child elements. */
export function ownText(element: XmlElement | undefined): string {
  return element?.children.filter(node => typeof node === 'string').join('') ?? ''
}

/** The text of an element and its descendants. */
export function textOf(element: XmlElement | undefined): string {
  if (element === undefined) return ''
  return element.children.map(node => (typeof node === 'string' ? node : textOf(node))).join('')
}
