// Alias keys: the form of series titles by which releases are matched.

const maxKeyLength = 500

/** Letters, marks and digits in lower case, single spaces between words; empty if there are none. */
export function aliasKey(title: string): string {
  const words = title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\s]+/gu, '')
    .split(/\s+/)
  return words.filter(Boolean).join(' ').slice(0, maxKeyLength).toWellFormed()
}
