// SVG detection, size, and check for content that must not reach the renderer.
// svg: [BOM] (space | <?…?> | <!--…--> | <!DOCTYPE …>)* "<" [prefix ":"] "svg" attribute* ">"
import { displaySize, type HeaderResult } from './primitives.ts'

const latin1 = new TextDecoder('latin1')
// One step of the prologue; every alternative ends at its terminator, so matching takes linear time.
const prologue = /(?:\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>)/iy
const rootName = /<(?:[\w.-]{1,32}:)?svg(?=[\s>/])/y

/** Offset of the root element's attributes, or -1 if it is not an SVG. */
function findRoot(text: string): number {
  let at = text.startsWith('\xef\xbb\xbf') ? 3 : 0
  for (let steps = 0; steps < 64; steps++) {
    prologue.lastIndex = at
    if (!prologue.test(text)) break
    at = prologue.lastIndex
  }
  rootName.lastIndex = at
  return rootName.test(text) ? rootName.lastIndex : -1
}

export function isSvg(head: Uint8Array): boolean {
  const first = head[0]
  // Fast path: an SVG starts with '<', a byte order mark or white space.
  if (first !== 0x3c && first !== 0xef && !(first !== undefined && first <= 0x20)) return false
  return findRoot(latin1.decode(head.subarray(0, 4096))) !== -1
}

const attribute = /\s+([\w:.-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y
const unitPixels: Record<string, number> = {
  '': 1,
  px: 1,
  pt: 96 / 72,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  em: 16,
  ex: 8,
}

function pixels(length: string | undefined): number {
  const [, value, unit] =
    /^\s*(\d{1,12}(?:\.\d{0,12})?)\s*([a-z]{0,2})\s*$/.exec(length ?? '') ?? []
  return value === undefined ? 0 : Number(value) * (unitPixels[unit ?? ''] ?? 0)
}

const positive = (n: number | undefined) => (n !== undefined && n > 0 ? n : 0)

export function readSvg(head: Uint8Array): HeaderResult {
  const text = latin1.decode(head.subarray(0, 65_536))
  const attributes: Record<string, string> = {}
  attribute.lastIndex = findRoot(text)
  if (attribute.lastIndex === -1) return null
  for (let match = attribute.exec(text); match; match = attribute.exec(text))
    attributes[match[1]!] ??= match[2] ?? match[3] ?? ''
  const box = (attributes.viewBox ?? '')
    .trim()
    .split(/[\s,]+/, 4)
    .map(Number)
  const [boxWidth, boxHeight] = [positive(box[2]), positive(box[3])]
  let [width, height] = [pixels(attributes.width), pixels(attributes.height)]
  if (width === 0 && height === 0) [width, height] = [boxWidth, boxHeight]
  else if (width === 0) width = boxHeight > 0 ? (height * boxWidth) / boxHeight : 0
  else if (height === 0) height = boxWidth > 0 ? (width * boxHeight) / boxWidth : 0
  return displaySize(Math.round(width), Math.round(height))
}

// The renderer has no base URL and loads nothing; files with external references are rejected anyway.
const unsafePatterns: [RegExp, string][] = [
  [/<!ENTITY|<!DOCTYPE[^>]*\[/i, 'entities'],
  [/<(?:[\w.-]{1,32}:)?script[\s>/]/i, 'scripts'],
  [/<\?xml-stylesheet|@import/i, 'style sheets'],
  [/<(?:[\w.-]{1,32}:)?foreignObject[\s>/]/i, 'foreign objects'],
  [/url\(\s*(?!["']?#|\s)(?!&quot;#)[^)]/i, 'external references'],
]
const reference = /\b(?:xlink:)?(?:href|src)\s*=\s*(?:"([^"]{0,40})|'([^']{0,40}))/gi
const safeReference = /^\s*(?:#|$|data:image\/(?:png|jpe?g|webp|gif)[;,])/i

/** The text of an SVG in UTF-8 or Latin-1; other encodings could hide content and are unsafe. */
export function decodeSvgText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return latin1.decode(bytes)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The unsafe content that prevents rendering, or null. */
export function findUnsafeContent(text: string): string | null {
  const encoding = /^[^<]{0,8}<\?xml[^>]{0,256}?encoding\s*=\s*["']([^"']*)/i.exec(text)?.[1]
  if (
    text.includes('\0') ||
    !/^(?:utf-8|us-ascii|iso-8859-1|windows-1252)$/i.test(encoding ?? 'utf-8')
  )
    return 'an unsupported encoding'
  for (const [pattern, content] of unsafePatterns) if (pattern.test(text)) return content
  // The renderer does not load hyperlinks.
  const withoutLinks = text.replace(/<(?:[\w.-]{1,32}:)?a\s[^>]*>/gi, '')
  for (const match of withoutLinks.matchAll(reference))
    if (!safeReference.test(match[1] ?? match[2] ?? '')) return 'external references'
  return null
}
