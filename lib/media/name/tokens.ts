// Tokens of a file name: words by script, numbers, single marks, and gaps where brackets and dates were.

export type Token = {
  kind: 'word' | 'number' | 'mark' | 'gap'
  text: string
  /** In lowercase. */
  key: string
  /** Offsets in the text. */
  from: number
  to: number
  /** Whether there is no space before it. */
  isGlued: boolean
}

// Each Han character is a word. `n°`, `Nº`, `№`, `N.12` and `n012` become the word `№`.
const lexeme =
  /[\n\t]|\d+½?(?:\.\d+)*|½|[nN](?:\.?[°º]|\.(?= ?\d))|№|\p{Script=Han}|\p{Script=Latin}[\p{Script=Latin}\p{M}]*(?:['’]\p{Script=Latin}+)*|(?:(?![\p{Script=Latin}\p{Script=Han}])[\p{L}\p{M}\u30fc])+|[^\s]/gu

/** Linear in the length of `text`. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const { 0: lexed, index } of text.matchAll(lexeme)) {
    const kind = kindOf(lexed)
    const to = index + lexed.length
    const isNumberSign =
      /[°º№]|^n\.$/iu.test(lexed) || (lexed === 'n' && /^\d/.test(text.charAt(to)))
    const key = kind !== 'word' ? lexed : isNumberSign ? '№' : lexed.toLowerCase()
    tokens.push({ kind, text: lexed, key, from: index, to, isGlued: index > 0 && index === end })
    end = to
  }
  return tokens
}

/** Whether the name, a segment, or a part before a dash ends before `tokens[at]`. */
export function isClosed(tokens: Token[], at: number): boolean {
  const token = tokens[at]
  return token === undefined || token.kind === 'gap' || /^[-–—:]$/.test(token.text)
}

function kindOf(lexed: string): Token['kind'] {
  if (/^[\n\t]/.test(lexed)) return 'gap'
  if (/^[\d½]/.test(lexed)) return 'number'
  return /^[\p{L}\p{M}№]/u.test(lexed) ? 'word' : 'mark'
}
