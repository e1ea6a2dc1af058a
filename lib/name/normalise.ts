// Keys under which texts are searched and matched.

const marks = /[\u0300-\u036f]/g
const nonAscii = /[^\0-\x7f]/
// Marks stay: the vowels of Thai, Hindi and Arabic are marks, and words would fall together.
const dropped = /[^\p{Alphabetic}\p{M}\p{N}\s]+/gu
const spaces = /\s+/g

/** Case- and accent-folded text: `MÄR Omega` → `mar omega`; kana and Han stay as they are. */
export function searchKey(text: string): string {
  if (!nonAscii.test(text)) return text.toLowerCase()
  return text.normalize('NFD').replace(marks, '').normalize('NFC').toLowerCase()
}

/** searchKey reduced to letters, digits and single spaces: `A!@#$B` → `ab`. May be empty. */
export function matchKey(text: string): string {
  return searchKey(text).replace(dropped, '').replace(spaces, ' ').trim()
}
