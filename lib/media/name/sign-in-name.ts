// Sign that belongs to the name, because another number follows: `Team #1 Fans Vol. 3`.
import { isYear } from './dates.ts'
import { isClosed, type Token } from './tokens.ts'

/** The kind and position of a marker in the name; `next` follows it. */
type Marked = { kind: string; at: number; next: number }

/** Only the number one is a rank, and only before a word that is not a marker: `#1 Vol. 3` is a number. */
export function isRank(tokens: Token[], { at, next }: Marked, other: Marked | null): boolean {
  const [sign, digits] = [tokens[at]!, tokens[at + 1]]
  if (sign.text !== '#' || digits?.text !== '1' || at === 0) return false
  const after = tokens[next]
  if (after?.kind !== 'word' || after.isGlued || other?.at === next) return false
  if (other === null) return endsInNumber(tokens, next)
  return (
    /^(?:issue|chapter|volume)$/.test(other.kind) ||
    (other.kind === 'weakIssue' && isClosed(tokens, other.next))
  )
}

// `Team #1 Fans 012 (2004)`
function endsInNumber(tokens: Token[], from: number): boolean {
  return tokens.some(
    ({ kind, text, isGlued }, i) =>
      i > from &&
      kind === 'number' &&
      !isGlued &&
      /^0\d|^\d{3,4}$/.test(text) &&
      !isYear(text) &&
      isClosed(tokens, i + 1),
  )
}
