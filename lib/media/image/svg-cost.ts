// Cost of rendering an SVG, estimated before rendering: elements after expanding references, filters, text
// and embedded images. Costs that it misses (style sheet references apply to unknown elements) are limited by
// svg-renderer.ts. Every reference (use, pattern, mask, marker, filter, clip path, gradient) draws its target
// again, and targets contain references, so a file of 2 kB may draw a billion elements.
import { SaxesParser } from 'saxes'
import { Unreadable } from '../../base/errors.ts'
import { checkDecodable } from './decode-limits.ts'
import { measureImage } from './image.ts'
import { decodeSvgText } from './svg.ts'

type Node = {
  /** Elements, characters and filter primitives of this element without its children. */
  cost: number
  children: Node[]
  references: string[]
}

// The renderer draws about 20,000 elements a second.
const maxCost = 40_000
const maxBytes = 8 * 1024 * 1024
const maxElements = 100_000
const maxDepth = 256
const maxReferenceDepth = 2000
const maxEmbeddedImages = 256
// A filter primitive visits every pixel, some of them many times.
const filterCost = 500
const charactersPerElement = 20
const pathBytesPerElement = 200

/**
 * The text of the SVG. Throws Unreadable: `too_large` if rendering is too expensive, `unsupported_image` if
 * it is not well-formed.
 */
export async function checkSvg(bytes: Uint8Array): Promise<string> {
  if (bytes.length > maxBytes) throw new Unreadable('The SVG is too large', 'too_large')
  const text = decodeSvgText(bytes)
  const { root, byId, styleReferences, images } = parse(text)
  const everywhere = styleReferences.filter(id => byId.has(id))
  if (costOf(root, byId, everywhere) > maxCost)
    throw new Unreadable('The SVG takes too long to draw', 'too_large')
  if (images.length > maxEmbeddedImages)
    throw new Unreadable('The SVG embeds too many images', 'too_large')
  for (const bytes of images) {
    const measured = await measureImage(async () => bytes)
    if (measured === null || measured.mediaType === 'image/svg+xml')
      throw new Unreadable('The SVG embeds an unsupported image', 'unsupported_image')
    checkDecodable(bytes, measured)
  }
  return text
}

type Document = {
  root: Node
  byId: Map<string, Node>
  /** Ids that style sheets refer to: they may apply to every element. */
  styleReferences: string[]
  images: Buffer[]
}

const tooComplex = new Unreadable('The SVG is too complex', 'too_large')

function parse(text: string): Document {
  const root: Node = { cost: 0, children: [], references: [] }
  const document: Document = { root, byId: new Map(), styleReferences: [], images: [] }
  const open: Node[] = [root]
  let elements = 0
  let styleDepth = 0
  const parser = new SaxesParser({ position: false as const, xmlns: false as const })
  const addText = (value: string) => {
    if (styleDepth > 0) document.styleReferences.push(...idsIn(value))
    else open.at(-1)!.cost += value.trim().length / charactersPerElement
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('opentag', ({ name, attributes }) => {
    if (++elements > maxElements || open.length > maxDepth) throw tooComplex
    const local = name.slice(name.indexOf(':') + 1)
    const node = nodeOf(local, attributes)
    const { id } = attributes
    // If several elements have the same id, the first is used.
    if (id !== undefined && !document.byId.has(id)) document.byId.set(id, node)
    if (local === 'image' || local === 'feImage') document.images.push(...embeddedImage(attributes))
    if (local === 'style') styleDepth++
    open.at(-1)!.children.push(node)
    open.push(node)
  })
  parser.on('closetag', ({ name }) => {
    if (name.slice(name.indexOf(':') + 1) === 'style') styleDepth--
    open.pop()
  })
  parser.on('error', cause => {
    throw new Unreadable('The SVG is not well-formed', 'unsupported_image', { cause })
  })
  parser.write(text).close()
  return document
}

function nodeOf(name: string, attributes: Record<string, string>): Node {
  const references: string[] = []
  let cost = name.startsWith('fe') && name !== 'feMergeNode' ? filterCost : 1
  for (const [attribute, value] of Object.entries(attributes)) {
    const local = attribute.slice(attribute.indexOf(':') + 1)
    if (local === 'href' && value.trim().startsWith('#') && name !== 'a')
      references.push(value.trim().slice(1))
    else references.push(...idsIn(value))
    if (local === 'd' || local === 'points') cost += value.length / pathBytesPerElement
    // Each dash is a separate path.
    if (local === 'stroke-dasharray' || value.includes('stroke-dasharray')) cost += dashCost
  }
  return { cost, children: [], references }
}

const dashCost = 200

const idsIn = (value: string): string[] =>
  value.includes('url(')
    ? [...value.matchAll(/url\(\s*["']?\s*#([^"')]*)/g)].map(match => match[1]!.trim())
    : []

/** Images in data URLs, as bytes. */
function embeddedImage(attributes: Record<string, string>): Buffer[] {
  const [, base64 = '', data = ''] =
    /^\s*data:[^,]{0,100}?(;base64)?\s*,([\s\S]*)$/i.exec(
      attributes.href ?? attributes['xlink:href'] ?? '',
    ) ?? []
  if (data === '') return []
  if (base64) return [Buffer.from(data, 'base64')]
  const text = data.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return [Buffer.from(text, 'latin1')]
}

/** The cost of `root` with all references expanded. Cycles count once: the renderer refuses them. */
function costOf(
  root: Node,
  byId: ReadonlyMap<string, Node>,
  everywhere: readonly string[],
): number {
  const known = new Map<Node, number>()
  const visiting = new Set<Node>()
  const visit = (node: Node): number => {
    const cost = known.get(node)
    if (cost !== undefined) return cost
    if (visiting.has(node)) return 0
    if (visiting.size > maxReferenceDepth) throw tooComplex
    visiting.add(node)
    let sum = node.cost
    for (const child of node.children) sum += visit(child)
    for (const id of node.references) {
      const target = byId.get(id)
      if (target) sum += visit(target)
    }
    visiting.delete(node)
    known.set(node, sum)
    return sum
  }
  const total = visit(root)
  const styled = everywhere.reduce((sum, id) => sum + visit(byId.get(id)!), 0)
  return Math.min(total + styled, Number.MAX_SAFE_INTEGER)
}
