// Text decoding with encoding detection: byte order mark, UTF-16 by its zero bytes, declared encoding, UTF-8,
// Windows-1252.
import { decodeHTMLStrict } from 'entities/decode'

/** `declared` is the encoding that the document declares, or null. Never throws. */
export function decodeText(
  bytes: Uint8Array,
  declared: string | null = null,
): { text: string; warnings: string[] } {
  const unicode = byteOrderMark(bytes) ?? utf16WithoutMark(bytes)
  if (unicode !== null) {
    // UTF-32LE starts like UTF-16LE; after removing NULs the text is the same up to U+FFFF.
    return { text: stripMark(new TextDecoder(unicode).decode(bytes)), warnings: [] }
  }
  const decoder = declared === null ? null : decoderFor(declared)
  if (decoder === null) {
    const { text, warnings } = decodeUtf8(bytes)
    return {
      text,
      warnings: declared === null ? warnings : [`unknown encoding ${declared}`, ...warnings],
    }
  }
  // .NET declares `utf-16` in documents that are stored as UTF-8.
  const isUnicode = decoder.encoding === 'utf-8' || decoder.encoding.startsWith('utf-16')
  if (isUnicode) return decodeUtf8(bytes)
  if (decoder.encoding === 'windows-1252')
    return { text: stripMark(decodeWindows1252(bytes)), warnings: [] }
  return { text: stripMark(decoder.decode(bytes)), warnings: [] }
}

function byteOrderMark(bytes: Uint8Array): string | null {
  const [a, b, c] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return null
}

/** UTF-16 without a byte order mark: XML and JSON start with ASCII, so every second byte is zero. */
function utf16WithoutMark(bytes: Uint8Array): string | null {
  const [a, b, c, d] = bytes
  if (a === undefined || b === undefined) return null
  if (a !== 0 && b === 0 && c !== 0 && (d ?? 0) === 0) return 'utf-16le'
  if (a === 0 && b !== 0 && (c ?? 0) === 0 && d !== 0) return 'utf-16be'
  return null
}

function decoderFor(label: string): InstanceType<typeof TextDecoder> | null {
  const names: Record<string, string> = {
    cp932: 'shift_jis',
    cp936: 'gbk',
    cp949: 'euc-kr',
    cp950: 'big5',
  }
  try {
    return new TextDecoder(names[label.toLowerCase()] ?? label)
  } catch {
    return null
  }
}

/**
 * Latin-1 text contains few valid UTF-8 sequences, and truncated UTF-8 few invalid ones: the majority
 * decides.
 */
function decodeUtf8(bytes: Uint8Array): { text: string; warnings: string[] } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), warnings: [] }
  } catch {
    const text = new TextDecoder('utf-8').decode(bytes)
    let broken = 0
    let good = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code === 0xfffd) broken++
      else if (code > 0x7f) good++
    }
    if (good > broken) return { text, warnings: [`${broken} bytes are not valid UTF-8`] }
    const warnings = ['text is not valid UTF-8, read as Windows-1252']
    return { text: decodeWindows1252(bytes), warnings }
  }
}

function stripMark(text: string): string {
  return text.replaceAll('\0', '').replace(/^\ufeff/, '')
}

const entity = /&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[\da-f]{1,6});/i
// ISO 32000-1, 7.3.4.2: "\(", "\)", "\\" and octal codes.
const stringEscape = /\\(?:([()\\])|([0-3][0-7]{2}))/g
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })
const utf16 = new TextDecoder('utf-16be')

/**
 * Reverses double escaping by programs, as XML entities or PDF string escapes: `AT&amp;T` → `AT&T`, `Ghost
 * \(1\)` → `Ghost (1)`, `\376\377\000A` → `A`.
 */
export function unescapeText(text: string): string {
  const plain = hasStringEscapes(text) ? decodeString(text) : text
  return entity.test(plain) ? decodeHTMLStrict(plain) : plain
}

// A backslash before a digit may also be part of a path.
const hasStringEscapes = (text: string) =>
  /\\[()]/.test(text) || /\\[0-3][0-7]{2}\\[0-3][0-7]{2}/.test(text)

function decodeString(text: string): string {
  const decoded = text.replace(stringEscape, (_, character, octal) =>
    octal === undefined ? character : String.fromCharCode(Number.parseInt(octal, 8)),
  )
  if (/[^\0-\xff]/.test(decoded) || !/[\x80-\xff]/.test(decoded)) return decoded
  const bytes = Buffer.from(decoded, 'latin1')
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return utf16.decode(bytes)
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return decodeWindows1252(bytes)
  }
}

// 80 to 9f, which Node 22.18's TextDecoder decodes as control characters; the five codes without a character are, as in the
// Encoding Standard.
const characters = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** Windows-1252, which every Latin-1 label denotes in the Encoding Standard. */
function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  return text.replace(/[\x80-\x9f]/g, character => characters[character.charCodeAt(0) - 0x80]!)
}
