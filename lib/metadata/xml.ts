// XML of unknown quality to a small tree: whatever could be read before, between and after errors.
//
//   document  = [mark] [space] [declaration] [doctype] element
//   entity    = the five of XML | the common ones of HTML | short literal ones of the doctype, the rest stay as text
import { SaxesParser } from 'saxes'
import { decodeText } from './decode.ts'
import { htmlEntities } from './entities.ts'
import { line } from './text.ts'

/** `name` and attribute names are local names in lower case; `prefix` is what stood before the colon. */
export type XmlElement = {
  name: string
  prefix: string
  attributes: ReadonlyMap<string, string>
  children: (XmlElement | string)[]
}

const mostBytes = 16 * 1024 * 1024
const mostElements = 250_000
const deepest = 128
const mostAttributes = 1000
const mostStrays = 10_000
const mostErrors = 500
const mostExpansions = 1000
const longestEntity = 200

const enough = new Error('enough')
const noAttributes: ReadonlyMap<string, string> = new Map()

/** Never throws. `root` is null when there is no element at all. Bounded in depth, elements and expansions. */
export function parseXml(bytes: Uint8Array): { root: XmlElement | null; warnings: string[] } {
  const { text, warnings } = decodeXml(bytes.subarray(0, mostBytes))
  if (bytes.length > mostBytes) warnings.push('XML is too large, only its start was read')
  const document: XmlElement = { name: '', prefix: '', attributes: noAttributes, children: [] }
  const errors: string[] = []
  try {
    parserInto(document, errors).write(escapeStray(text)).close()
  } catch (cause) {
    errors.push(cause === enough ? 'too many elements, levels or errors' : 'the rest is not XML')
  }
  const first = line(errors[0])?.slice(0, 120)
  if (first !== undefined) warnings.push(`XML is not well formed (${errors.length}): ${first}`)
  const root = document.children.find(node => typeof node !== 'string') ?? null
  return { root, warnings }
}

function parserInto(document: XmlElement, errors: string[]) {
  const parser = new SaxesParser({ position: false as const, xmlns: false as const })
  const open = [document]
  let elements = 0
  let attributes = 0
  const text = (value: string) => {
    open.at(-1)?.children.push(value.trim() === '' ? ' ' : value)
  }
  parser.ENTITIES = Object.create(null)
  for (const [name, value] of htmlEntities) parser.ENTITIES[name] = value
  parser.on('doctype', doctype => declareEntities(parser.ENTITIES, doctype))
  parser.on('text', text)
  parser.on('cdata', text)
  parser.on('attribute', () => {
    if (++attributes > mostAttributes) throw enough
  })
  parser.on('opentag', tag => {
    attributes = 0
    if (++elements > mostElements || open.length > deepest) throw enough
    const element = elementOf(tag)
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => {
    open.pop()
  })
  parser.on('error', error => {
    errors.push(error.message)
    if (errors.length >= mostErrors) throw enough
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

/** Only short literals, and only so often: nested and external entities are never expanded. */
function declareEntities(entities: Record<string, string>, doctype: string): void {
  let expansions = 0
  const literal = /<!ENTITY\s+([\w.-]{1,64})\s+(?:"([^"<&%]{0,200})"|'([^'<&%]{0,200})')\s*>/g
  for (const [, name, double, single] of doctype.slice(0, 65_536).matchAll(literal)) {
    const value = (double ?? single ?? '').slice(0, longestEntity)
    if (name === undefined || name in entities) continue
    const get = () => (expansions++ < mostExpansions ? value : '')
    Object.defineProperty(entities, name, { get })
  }
}

function decodeXml(bytes: Uint8Array): { text: string; warnings: string[] } {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(1024, bytes.length))
  const declared = /^[^<]{0,256}<\?xml\s[^>]{0,256}?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(
    head.toString('latin1'),
  )
  const { text, warnings } = decodeText(bytes, declared?.[1] ?? null)
  // White space before the declaration is common, and an error by the letter.
  let end = text.length
  while (text.charCodeAt(end - 1) <= 0x20) end--
  return { text: text.slice(Math.max(0, text.indexOf('<')), end), warnings }
}

const stray = /&(?!#?[\w.:-]{1,64};)|<(?![a-z_:/!?\u0080-\uffff])/gi

/** `AT&T` and `1 < 2`: a strict parser would swallow the text up to the next `;` or `>`. CDATA stays as it is. */
function escapeStray(text: string): string {
  if (text.search(stray) < 0) return text
  let strays = 0
  const escaped = (mark: string) => {
    if (++strays > mostStrays) return mark
    return mark === '&' ? '&amp;' : '&lt;'
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

/** Child elements, all or those of one name. */
export function childrenOf(element: XmlElement | undefined, name?: string): XmlElement[] {
  const found: XmlElement[] = []
  for (const node of element?.children ?? []) {
    if (typeof node !== 'string' && (name === undefined || node.name === name)) found.push(node)
  }
  return found
}

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return childrenOf(element, name)[0]
}

/** Every element below, in document order. */
export function* descendantsOf(element: XmlElement): Generator<XmlElement> {
  for (const node of element.children) {
    if (typeof node === 'string') continue
    yield node
    yield* descendantsOf(node)
  }
}

/** The text directly inside, without that of child elements. */
export function ownText(element: XmlElement | undefined): string {
  return element?.children.filter(node => typeof node === 'string').join('') ?? ''
}

/** All text inside. */
export function textOf(element: XmlElement | undefined): string {
  if (element === undefined) return ''
  return element.children.map(node => (typeof node === 'string' ? node : textOf(node))).join('')
}
