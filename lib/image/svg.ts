// SVG: telling it from other text, its size, and what must not reach the renderer.
// svg: [BOM] (space | <?…?> | <!--…--> | <!DOCTYPE …>)* "<" [prefix ":"] "svg" attribute* ">"
import { type Answer, displayed } from './size.ts'

const latin1 = new TextDecoder('latin1')
// One step of the prologue; every alternative is bounded by its own terminator, so it runs in linear time.
const prologue = /(?:\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>)/iy
const rootName = /<(?:[\w.-]{1,32}:)?svg(?=[\s>/])/y

/** Offset of the root's attributes in `text`, or -1 when it is no SVG. */
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
  // '<', a byte order mark or white space: anything else is not worth decoding.
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

export function readSvg(head: Uint8Array): Answer {
  const text = latin1.decode(head.subarray(0, 65_536))
  const found: Record<string, string> = {}
  attribute.lastIndex = findRoot(text)
  if (attribute.lastIndex === -1) return null
  for (let match = attribute.exec(text); match; match = attribute.exec(text))
    found[match[1]!] ??= match[2] ?? match[3] ?? ''
  const box = (found.viewBox ?? '')
    .trim()
    .split(/[\s,]+/, 4)
    .map(Number)
  const [boxWidth, boxHeight] = [positive(box[2]), positive(box[3])]
  let [width, height] = [pixels(found.width), pixels(found.height)]
  if (width === 0 && height === 0) [width, height] = [boxWidth, boxHeight]
  else if (width === 0) width = boxHeight > 0 ? (height * boxWidth) / boxHeight : 0
  else if (height === 0) height = boxWidth > 0 ? (width * boxHeight) / boxWidth : 0
  return displayed(Math.round(width), Math.round(height))
}

// The renderer has no base address and so loads nothing anyway; a file that asks is refused all the same.
const refused: [RegExp, string][] = [
  [/<!ENTITY|<!DOCTYPE[^>]*\[/i, 'entities'],
  [/<(?:[\w.-]{1,32}:)?script[\s>/]/i, 'scripts'],
  [/<\?xml-stylesheet|@import/i, 'style sheets'],
  [/<(?:[\w.-]{1,32}:)?foreignObject[\s>/]/i, 'foreign content'],
  [/url\(\s*(?!["']?#|\s)(?!&quot;#)[^)]/i, 'references to the outside'],
]
const reference = /\b(?:xlink:)?(?:href|src)\s*=\s*(?:"([^"]{0,40})|'([^']{0,40}))/gi
const inner = /^\s*(?:#|$|data:image\/(?:png|jpe?g|webp|gif)[;,])/i

/** Why `bytes` must not be rendered, or null. UTF-8 and Latin-1 only: other encodings could hide from it. */
export function whyRefused(bytes: Uint8Array): string | null {
  const text = latin1.decode(bytes)
  const encoding = /^[^<]{0,8}<\?xml[^>]{0,256}?encoding\s*=\s*["']([^"']*)/i.exec(text)?.[1]
  if (
    text.includes('\0') ||
    !/^(?:utf-8|us-ascii|iso-8859-1|windows-1252)$/i.test(encoding ?? 'utf-8')
  )
    return 'an unusual encoding'
  for (const [pattern, what] of refused) if (pattern.test(text)) return what
  // A link on a drawn thing leads away only when somebody clicks.
  const drawn = text.replace(/<(?:[\w.-]{1,32}:)?a\s[^>]*>/gi, '')
  for (const match of drawn.matchAll(reference))
    if (!inner.test(match[1] ?? match[2] ?? '')) return 'references to the outside'
  return null
}
