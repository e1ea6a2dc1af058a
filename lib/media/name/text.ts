// Text keys for search and matching, and digit normalization.

const marks = /[\u0300-\u036f]/g
const nonAscii = /[^\0-\x7f]/
// Combining marks stay: the vowels of Thai, Hindi and Arabic are marks, and different words would match.
const unmatchedCharacters = /[^\p{Alphabetic}\p{M}\p{N}\s]+/gu
const spaces = /\s+/g

/** Case- and accent-folded text: `MÄR Omega` → `mar omega`; kana and Han are not changed. */
export function searchKey(text: string): string {
  if (!nonAscii.test(text)) return text.toLowerCase()
  // PostgreSQL treats a final sigma as a separate letter, but does not produce one when it lowercases a
  // capital at the end of a word.
  const plain = text.normalize('NFD').replace(marks, '').normalize('NFC')
  return plain.replaceAll('Σ', 'σ').toLowerCase()
}

/** Lowercases ASCII letters only. */
export const lowerAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, letters => letters.toLowerCase())

/** searchKey reduced to letters, digits and single spaces: `A!@#$B` → `ab`. May be empty. */
export function matchKey(text: string): string {
  return searchKey(text).replace(unmatchedCharacters, '').replace(spaces, ' ').trim()
}

// Code point of each script's digit zero; the ten digits are consecutive.
const zeros = [
  0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
  0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x17e0, 0x1810, 0xff10,
]
const zeroOf = new Map(
  zeros.flatMap(zero => Array.from({ length: 10 }, (_, i) => [zero + i, zero] as const)),
)
const foreignDigit = /[^\P{Nd}0-9]/gu

/** `text` with decimal digits of other scripts replaced by ASCII ones; same length in characters. */
export function asciiDigits(text: string): string {
  return text.replace(foreignDigit, digit => {
    const zero = zeroOf.get(digit.codePointAt(0) ?? 0)
    return zero === undefined ? digit : String.fromCharCode(0x30 + digit.charCodeAt(0) - zero)
  })
}
