// Text of a page as words with boxes, and searches in it: they ignore case, accents, ligatures and hyphens at the ends
// of lines.

/** Fractions of the page, from its top left corner. */
export type Box = { x: number; y: number; width: number; height: number }
export type Word = Box & { text: string }
export type PageText = {
  lines: { words: Word[] }[]
  /** Whether the page has more than is listed. */
  isTruncated: boolean
}

export type TextMatch = { before: string; text: string; after: string; boxes: Box[] }

const contextLength = 40

/** Where a folded character comes from: the part of a word, and its position in the text. */
type Source = { word: Word; line: number; start: number; end: number; at: number }

/** The matches of a query of at least one letter, in the order of the page. */
export function* findText(page: PageText, query: string): Generator<TextMatch> {
  const wanted = fold(query.trim().replace(/\s+/g, ' '))
  if (wanted === '') return
  const { text, folded, sources } = joinWords(page)
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + wanted.length)) {
    const found = sources.slice(at, at + wanted.length).filter(source => source !== null)
    const [first, last] = [found[0], found.at(-1)]
    if (!first || !last) continue
    yield {
      before: text.slice(Math.max(0, first.at - contextLength), first.at),
      text: text.slice(first.at, last.at + 1),
      after: text.slice(last.at + 1, last.at + 1 + contextLength),
      boxes: boxesOf(found),
    }
  }
}

/** The text of the page for display, and folded for comparison with the origin of each character. */
function joinWords({ lines }: PageText) {
  let text = ''
  let folded = ''
  const sources: (Source | null)[] = []
  const add = (character: string, source: Source | null) => {
    for (const part of fold(character)) {
      folded += part
      for (let i = 0; i < part.length; i++) sources.push(source)
    }
  }
  for (const [line, { words }] of lines.entries())
    for (const [i, word] of words.entries()) {
      const next = lines[line + 1]?.words[0]?.text ?? ''
      const isHyphenated =
        i === words.length - 1 && /\p{L}[-\u00ad\u2010]$/u.test(word.text) && /^\p{Ll}/u.test(next)
      let start = 0
      for (const character of word.text) {
        const end = start + character.length
        if (!(isHyphenated && end === word.text.length))
          add(character, { word, line, start, end, at: text.length + start })
        start = end
      }
      text += word.text
      if (!isHyphenated) {
        text += ' '
        add(' ', null)
      }
    }
  return { text, folded, sources }
}

/** One box for each line. A part of a word is estimated by the number of its characters. */
function boxesOf(found: readonly Source[]): Box[] {
  const lines = Map.groupBy(found, ({ line }) => line)
  return [...lines.values()].map(sources => {
    const [first, last] = [sources[0]!, sources.at(-1)!]
    const all = sources.map(({ word }) => word)
    const x = first.word.x + (first.word.width * first.start) / first.word.text.length
    const right = last.word.x + (last.word.width * last.end) / last.word.text.length
    const y = Math.min(...all.map(word => word.y))
    const bottom = Math.max(...all.map(word => word.y + word.height))
    return roundedBox({ x: Math.min(x, right), y, width: Math.abs(right - x), height: bottom - y })
  })
}

/** A ten thousandth of a page is less than a pixel. */
const round = (fraction: number) =>
  Number.isFinite(fraction) ? Math.round(Math.min(2, Math.max(-1, fraction)) * 1e4) / 1e4 : 0

export const roundedBox = ({ x, y, width, height }: Box): Box => ({
  x: round(x),
  y: round(y),
  width: round(width),
  height: round(height),
})

const fold = (text: string): string =>
  (/^[\0-\x7f]*$/.test(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '')).toLowerCase()
