// Splits a file name into text outside and inside brackets.
//
// flat = text with one `\n` in place of each group; groups = texts of the groups in the same order.
const openers = '([{【「『（［'
const closers = ')]}】」』）］'

export type Bracketed = { flat: string; groups: string[] }

/** Nested and unbalanced brackets are tolerated: `(digital (Empire)` contains `digital` and `Empire`. */
export function splitBrackets(text: string): Bracketed {
  const lastCloser = Math.max(...[...closers].map(closer => text.lastIndexOf(closer)))
  const groups: string[] = []
  let flat = ''
  let depth = 0
  let from = 0
  const flush = (to: number) => {
    const piece = text.slice(from, to)
    if (depth === 0) flat += piece
    else if (piece.trim() !== '') {
      groups.push(piece.trim())
      flat += '\n'
    }
  }
  for (let i = 0; i <= lastCloser; i++) {
    const char = text.charAt(i)
    const isOpener = openers.includes(char)
    if (!isOpener && (depth === 0 || !closers.includes(char))) continue
    flush(i)
    depth += isOpener ? 1 : -1
    from = i + 1
  }
  // No bracket closes after this position, so the rest is not inside a group.
  depth = 0
  flush(text.length)
  return { flat, groups }
}
