// Table of contents of a PDF: its outline (ISO 32000-1, 12.3.3), as a list in which each entry has a depth.
import type { OutlineIterator } from 'mupdf'
import { scoped } from '../../../base/async/dispose.ts'
import type { File } from '../../../base/file.ts'
import type { Limits } from '../../archive/limits.ts'
import { singleLine } from '../../metadata/text.ts'
import { openDocument, type PdfDocument } from './document.ts'
import { loadEngine } from './engine.ts'

export type OutlineEntry = {
  title: string
  /** 0 for the entries at the top. */
  depth: number
  /** From 0; null for an entry that leads to no page. */
  index: number | null
}

const maxEntries = 5_000
const maxDepth = 16
const maxTitleLength = 500

/** Empty without an outline, or if it is damaged. Throws Unreadable for the file. */
export async function readOutline(file: File, limits: Limits): Promise<OutlineEntry[]> {
  const engine = await loadEngine()
  return scoped(async use => {
    const pdf = use(openDocument(engine, file, limits.entries))
    const entries: OutlineEntry[] = []
    try {
      pdf.run(track => walk(pdf, track(pdf.document.outlineIterator()), entries))
    } catch (error) {
      if (pdf.engine.isBroken()) throw error
    }
    return entries
  })
}

const atItem = 0

function walk(pdf: PdfDocument, outline: OutlineIterator, entries: OutlineEntry[]): void {
  let depth = 0
  while (entries.length < maxEntries) {
    const item = outline.item()
    if (item) {
      const title = singleLine(item.title?.toWellFormed() ?? '')?.slice(0, maxTitleLength)
      if (title) entries.push({ title, depth, index: pageOf(pdf, item.uri) })
      if (depth < maxDepth) {
        if (outline.down() === atItem) {
          depth += 1
          continue
        }
        // It moved to an empty place below the entry.
        outline.up()
      }
    }
    while (outline.next() !== atItem) {
      if (depth === 0) return
      outline.up()
      depth -= 1
    }
  }
}

function pageOf({ document, pageCount }: PdfDocument, uri: string | undefined): number | null {
  if (!uri || /^[a-z][\w+.-]+:/i.test(uri)) return null
  const index = document.resolveLink(uri)
  return index >= 0 && index < pageCount ? index : null
}
