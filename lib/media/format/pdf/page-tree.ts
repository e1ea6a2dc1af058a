// Page tree of a PDF: counts pages, and collects them where the tree has loops, wrong counts or missing
// nodes.
import type { PDFDocument, PDFObject } from 'mupdf'
import { Unreadable } from '../../../base/errors.ts'
import { getPath, isTrap, type Track } from './engine.ts'

export type CountOptions = {
  maxPages: number
  fileSize: number
  /** Rebuilds a damaged tree from what it lists, or from all pages in the file. */
  rebuild?: 'listed' | 'all'
}

// Reading the whole tree means reading all page objects, 8 KB each.
const maxVerifiedPages = 64
const small = { bytes: 1024 * 1024, pages: 1000 }
// A cross-reference entry takes 20 bytes, or about 3 when compressed.
const minPageBytes = 3
const maxScannedObjects = 500_000
const inheritedKeys = ['Resources', 'MediaBox', 'CropBox', 'Rotate'] as const

/**
 * The number of pages that MuPDF can load. Throws Unreadable: `no_pages`, `too_large`; `truncated` for a
 * damaged tree that lists nothing or is not to be rebuilt.
 */
export function countPages(document: PDFDocument, track: Track, options: CountOptions): number {
  // With the cache enabled MuPDF reads every page object to find the first one.
  document.setPageTreeCache(false)
  const { maxPages, rebuild } = options
  let count = 0
  try {
    const wasRepaired = document.wasRepaired()
    count = countSound(document, track, options)
    // The first access to damaged objects makes MuPDF repair the file.
    if (count === 0 && !wasRepaired && document.wasRepaired())
      count = countSound(document, track, options)
  } catch (cause) {
    if (isTrap(cause)) throw cause
  }
  if (count > 0) return count
  if (rebuild !== undefined) count = rebuildTree(document, track, { maxPages, rebuild })
  if (count > maxPages) throw new Unreadable(`More than ${maxPages} pages`, 'too_large')
  if (count === 0) throw withoutPages(document, track)
  return count
}

/** The declared count of a tree that is sound as far as checked; otherwise 0. */
function countSound(document: PDFDocument, track: Track, { maxPages, fileSize }: CountOptions) {
  const count = document.countPages()
  if (count <= 0 || count * minPageBytes > fileSize || count > maxPages) return 0
  if (count <= maxVerifiedPages || (fileSize <= small.bytes && count <= small.pages)) {
    const { pages, isTree } = collectPages(document, track, count)
    return isTree && pages.length === count ? count : 0
  }
  track(document.findPage(0))
  return count
}

/** Replaces the tree with a root that lists all pages, in memory only, and returns their number. */
export function rebuildTree(
  document: PDFDocument,
  track: Track,
  { maxPages, rebuild }: { maxPages: number; rebuild: 'listed' | 'all' },
): number {
  document.setPageTreeCache(false)
  const found = collectPages(document, track, maxPages)
  const strays = found.pages.length === 0 && rebuild === 'all'
  const pages = strays ? findStrays(document, track, maxPages) : found.pages
  if (pages.length === 0 || pages.length > maxPages) return pages.length
  const root = track(document.newDictionary())
  const list = track(document.newArray())
  root.put('Type', track(document.newName('Pages')))
  root.put('Kids', list)
  root.put('Count', pages.length)
  const reference = track(document.addObject(root))
  for (const { page, inherited } of pages) {
    list.push(page)
    if (!page.isDictionary()) continue
    for (const [key, value] of inherited)
      if (getPath(track, page, key).isNull()) page.put(key, value)
    page.put('Parent', reference)
  }
  getPath(track, track(document.getTrailer()), 'Root').put('Pages', reference)
  return pages.length
}

/** A page and the attributes inherited from the nodes above it. */
type FoundPage = { page: PDFObject; inherited: Map<string, PDFObject> }
type Node = { node: PDFObject; parent: number; inherited: FoundPage['inherited'] }

/**
 * `isTree`: each node is listed once and refers to its parent; otherwise MuPDF counts pages that it cannot
 * load.
 */
function collectPages(document: PDFDocument, track: Track, maxPages: number) {
  const root = getPath(track, track(document.getTrailer()), 'Root', 'Pages')
  const pages: FoundPage[] = []
  const seen = new Set<number>()
  let isTree = getPath(track, root, 'Parent').isNull()
  const todo: Node[] = [{ node: root, parent: 0, inherited: new Map() }]
  for (
    let next = todo.pop();
    next && pages.length <= maxPages && seen.size <= 2 * maxPages;
    next = todo.pop()
  ) {
    const { node, inherited } = next
    const number = node.isIndirect() ? node.asIndirect() : 0
    const parent = getPath(track, node, 'Parent')
    if (next.parent !== 0 && parent.isIndirect() && parent.asIndirect() !== next.parent)
      isTree = false
    const kids = getPath(track, node, 'Kids')
    if (!kids.isArray()) {
      // A page may be listed twice. An unreadable page becomes a blank one, so that the others retain their
      // numbers.
      if (number !== 0) pages.push({ page: node, inherited })
      continue
    }
    if (number !== 0 && seen.has(number)) {
      isTree = false
      continue
    }
    if (number !== 0) seen.add(number)
    const below = new Map(inherited)
    for (const key of inheritedKeys) {
      const value = getPath(track, node, key)
      if (!value.isNull()) below.set(key, value)
    }
    for (let i = Math.min(kids.length - 1, maxPages); i >= 0; i--)
      todo.push({ node: track(kids.get(i)), parent: number, inherited: below })
  }
  const isAnyReadable = pages.some(({ page }) => page.isDictionary())
  return { pages: isAnyReadable ? pages : [], isTree }
}

function findStrays(document: PDFDocument, track: Track, maxPages: number): FoundPage[] {
  const pages: FoundPage[] = []
  const end = Math.min(document.countObjects(), maxScannedObjects)
  for (let number = 1; number < end && pages.length <= maxPages; number += 1) {
    const object = document.newIndirect(number)
    try {
      const type = object.isDictionary() ? getPath(track, object, 'Type') : null
      if (type?.isName() && type.asName() === 'Page')
        pages.push({ page: track(object), inherited: new Map() })
      else object.destroy()
    } catch (cause) {
      // An object that cannot be read is not a page.
      if (isTrap(cause)) throw cause
      object.destroy()
    }
  }
  return pages
}

/** A tree that lists nothing means a document without pages; anything else is damage. */
function withoutPages(document: PDFDocument, track: Track): Unreadable {
  const root = getPath(track, track(document.getTrailer()), 'Root', 'Pages')
  const kids = getPath(track, root, 'Kids')
  const count = getPath(track, root, 'Count')
  const isEmpty = kids.isArray() && kids.length === 0 && count.isNumber() && count.asNumber() === 0
  return isEmpty
    ? new Unreadable('The PDF has no pages', 'no_pages')
    : new Unreadable('The page tree of the PDF is damaged', 'truncated')
}
