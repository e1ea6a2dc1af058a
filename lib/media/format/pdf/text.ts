// Text of PDF pages: words with their boxes, in reading order by MuPDF, and searches over pages.
import type { Quad } from 'mupdf'
import { scoped } from '../../../base/async/dispose.ts'
import type { File } from '../../../base/file.ts'
import type { Limits } from '../../archive/limits.ts'
import { openDocument, type PdfDocument } from './document.ts'
import { loadEngine } from './engine.ts'
import {
  type Box,
  findText,
  type PageText,
  roundedBox,
  type TextMatch,
  type Word,
} from './page-text.ts'

const maxWords = 10_000
const maxWordLength = 100

/** Null for a page that does not exist. Throws Unreadable. */
export async function readPageText(
  file: File,
  limits: Limits,
  index: number,
): Promise<PageText | null> {
  const engine = await loadEngine()
  return scoped(async use => {
    const pdf = use(openDocument(engine, file, limits.entries))
    return index < pdf.pageCount ? textOf(pdf, index) : null
  })
}

/** `from`: the page to begin with, from 0. */
export type TextSearch = { query: string; from: number }
export type FoundText = {
  matches: (TextMatch & { index: number })[]
  /** Where the search goes on; null at the end of the book. */
  next: number | null
}

const maxMatches = 100
/** Further matches on one page are left out. */
const maxMatchesOfPage = 500
const maxSearchedPages = 1_000
// A client waits for the first matches, and repeats the request for the next pages.
const maxSearchMs = 1_000

/** Searches page by page until there are enough matches, or for a while. `tick` is called for each page. */
export async function searchText(
  file: File,
  limits: Limits,
  { query, from, tick }: TextSearch & { tick: () => void },
): Promise<FoundText> {
  const engine = await loadEngine()
  return scoped(async use => {
    const pdf = use(openDocument(engine, file, limits.entries))
    const end = performance.now() + maxSearchMs
    const matches: FoundText['matches'] = []
    let index = from
    for (; index < pdf.pageCount; index++) {
      if (matches.length >= maxMatches || index - from >= maxSearchedPages) break
      if (index > from && performance.now() > end) break
      tick()
      try {
        const found = findText(textOf(pdf, index), query).take(maxMatchesOfPage)
        for (const match of found) matches.push({ ...match, index })
      } catch (error) {
        // One broken page does not hide what others have, unless it broke the engine.
        if (pdf.engine.isBroken()) throw error
      }
    }
    return { matches, next: index < pdf.pageCount ? index : null }
  })
}

function textOf(pdf: PdfDocument, index: number): PageText {
  return pdf.run(track => {
    const page = pdf.loadPage(track, index)
    const [left, top, right, bottom] = page.getBounds()
    const [width, height] = [Math.max(right - left, 1), Math.max(bottom - top, 1)]
    const collect = collectWords(quad => {
      const xs = [quad[0], quad[2], quad[4], quad[6]]
      const ys = [quad[1], quad[3], quad[5], quad[7]]
      const [x0, y0] = [Math.min(...xs), Math.min(...ys)]
      return {
        x: (x0 - left) / width,
        y: (y0 - top) / height,
        width: (Math.max(...xs) - x0) / width,
        height: (Math.max(...ys) - y0) / height,
      }
    })
    track(page.toStructuredText('')).walk(collect)
    return collect.page
  })
}

/** Walks over the characters of a page and joins them to words. Text outside the page is not part of it. */
function collectWords(boxOf: (quad: Quad) => Box) {
  const page: PageText = { lines: [], isTruncated: false }
  let line: Word[] = []
  let word: Word | null = null
  let count = 0
  const endWord = () => {
    if (word) line.push({ text: word.text.toWellFormed(), ...roundedBox(word) })
    word = null
  }
  return {
    page,
    onChar(character: string, _origin: unknown, _font: unknown, _size: number, quad: Quad) {
      if (/[\s\0]/.test(character)) return endWord()
      const box = boxOf(quad)
      const isOutside =
        box.x + box.width <= 0 || box.x >= 1 || box.y + box.height <= 0 || box.y >= 1
      if (isOutside) return
      if (word && word.text.length < maxWordLength) {
        word = { ...union(word, box), text: word.text + character }
        return
      }
      endWord()
      if (count >= maxWords) {
        page.isTruncated = true
        return
      }
      count += 1
      word = { ...box, text: character }
    },
    endLine() {
      endWord()
      if (line.length > 0) page.lines.push({ words: line })
      line = []
    },
  }
}

function union(a: Box, b: Box): Box {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)]
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  }
}
