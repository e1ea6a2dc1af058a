// Names of archive entries: most archives do not declare an encoding, but use the same one for all names.
import { isUtf8 } from 'node:buffer'

/** A name as stored, one character per byte (Latin-1), until `decodeNames`. */
export type StoredName = { name: string }

/** Normalizes a decoded name: backslashes become `/`; lone surrogates and NUL become U+FFFD. */
export function normalizeName(name: string): string {
  return name.replaceAll('\\', '/').replaceAll('\0', '\ufffd').toWellFormed()
}

const isPlain = (name: string) => !/[\x80-\xff\\\0]/.test(name)
const bytesOf = (name: string) => Buffer.from(name, 'latin1')
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** A name declared to be UTF-8; null if it is not. */
export function decodeUtf8(name: string): string | null {
  if (isPlain(name)) return name
  const bytes = bytesOf(name)
  return isUtf8(bytes) ? normalizeName(utf8.decode(bytes)) : null
}

/**
 * Decodes the names of one archive in place: as UTF-8 where valid, otherwise all in the most likely code
 * page. Separators are found afterwards, because the second byte of a character may look like a backslash.
 */
export async function decodeNames(entries: readonly StoredName[]): Promise<void> {
  const others = entries.filter(({ name }) => !isPlain(name))
  const legacy = others.filter(({ name }) => !isUtf8(bytesOf(name)))
  if (legacy.length === 0) {
    for (const entry of others) entry.name = decodeUtf8(entry.name)!
    return
  }
  // Imported on demand: its tables are large, and nearly all names are UTF-8.
  const { decodeAs, guessCodePage, isMoreUsual } = await import('./code-page/code-page.ts')
  const { codePage, language } = guessCodePage(legacy.map(({ name }) => name))
  for (const entry of others) {
    const text = decodeAs(codePage, entry.name)
    const unicode = decodeUtf8(entry.name)
    // Two-byte characters may happen to be valid UTF-8.
    const isUnicode = unicode !== null && !isMoreUsual(text, unicode, language)
    entry.name = isUnicode ? unicode : normalizeName(text)
  }
}
