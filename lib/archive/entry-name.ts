// Character encoding detection for archive entry names: most archives do not declare an encoding.
import { isUtf8 } from 'node:buffer'

const utf8 = new TextDecoder('utf-8')
// Not fatal: an exception for each name takes longer than all else.
const shiftJis = new TextDecoder('shift_jis')
const gbk = new TextDecoder('gbk')
const cp1251 = new TextDecoder('windows-1251')
const cp866 = new TextDecoder('ibm866')

// The upper half of code page 437, the encoding of the ZIP specification (APPNOTE appendix D).
const cp437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

/** Decodes an entry name and normalizes its separators to `/`. UTF-8 when valid, else the most likely legacy encoding. */
export function decodeName(bytes: Buffer): string {
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i]!
    if (byte >= 0x80 || byte === 0x5c || byte === 0) return normalizeName(detectAndDecode(bytes))
  }
  return bytes.toString('latin1')
}

/** Normalizes a decoded name: backslashes become `/`; lone surrogates and NUL become U+FFFD. */
export function normalizeName(name: string): string {
  return name.replaceAll('\\', '/').replaceAll('\0', '\ufffd').toWellFormed()
}

function detectAndDecode(bytes: Buffer): string {
  if (isUtf8(bytes)) return utf8.decode(bytes)
  return decodeShiftJis(bytes) ?? decodeGbk(bytes) ?? decodeCyrillic(bytes) ?? decodeCp437(bytes)
}

function decodeStrict(decoder: InstanceType<typeof TextDecoder>, bytes: Buffer): string | null {
  const text = decoder.decode(bytes)
  return text.includes('\ufffd') ? null : text
}

// Kana distinguish Shift JIS from the other double-byte encodings; half-width kana nearly always mean a wrong guess.
function decodeShiftJis(bytes: Buffer): string | null {
  const text = decodeStrict(shiftJis, bytes)
  if (text === null || /[\uff61-\uff9f\ue000-\uf8ff]/.test(text)) return null
  return /[\u3040-\u30ff\u4e00-\u9fff]/.test(text) ? text : null
}

// Three quarters of Chinese text are level 1 characters of GB 2312, whose lead bytes end at D7; lower-case
// Cyrillic letters of cp1251 start at E0.
function decodeGbk(bytes: Buffer): string | null {
  const text = decodeStrict(gbk, bytes)
  if (text === null) return null
  let common = 0
  let rare = 0
  for (let i = 0; i < bytes.length; i += 1) {
    if (bytes[i]! < 0x80) continue
    if (bytes[i]! >= 0xb0 && bytes[i]! <= 0xd7) common += 1
    else if (bytes[i]! > 0xa9) rare += 1
    i += 1
  }
  return common > rare ? text : null
}

function decodeCyrillic(bytes: Buffer): string | null {
  const high = bytes.filter(byte => byte >= 0x80)
  const share = (isLetter: (byte: number) => boolean) => high.filter(isLetter).length / high.length
  if (share(b => b >= 0xc0 || b === 0xa8 || b === 0xb8) > 0.9) return cp1251.decode(bytes)
  const isCp866 = (b: number) => b <= 0xaf || (b >= 0xe0 && b <= 0xf1)
  // Western DOS names use the same range for single accented letters; Cyrillic words consist of it.
  return high.length > 3 && share(isCp866) > 0.9 && longestRun(bytes) > 3
    ? cp866.decode(bytes)
    : null
}

function longestRun(bytes: Buffer): number {
  let run = 0
  let longest = 0
  for (const byte of bytes) {
    run = byte >= 0x80 ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  return longest
}

function decodeCp437(bytes: Buffer): string {
  let text = ''
  for (const byte of bytes) text += byte < 0x80 ? String.fromCharCode(byte) : cp437[byte - 0x80]
  return text
}
