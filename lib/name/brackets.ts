// Parts a name into running text and the texts in its brackets.
//
// flat = text with one `\n` in place of each group; groups = their texts in the same order.
const openers = '([{【「『（［'
const closers = ')]}】」』）］'

export type Bracketed = { flat: string; groups: string[] }

/** Nested and unbalanced brackets are taken as they come: `(digital (Empire)` holds `digital` and `Empire`. */
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
    const opens = openers.includes(char)
    if (!opens && (depth === 0 || !closers.includes(char))) continue
    flush(i)
    depth += opens ? 1 : -1
    from = i + 1
  }
  // Nothing closes after this point: what is left is text, not the inside of a group.
  depth = 0
  flush(text.length)
  return { flat, groups }
}
