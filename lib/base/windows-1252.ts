// Decoder of Windows-1252, which every Latin-1 label denotes in the Encoding Standard. Node 22.18's
// TextDecoder decodes 80 to 9f as control characters.

// 80 to 9f; the five codes without a character are control characters, as in the Encoding Standard.
const characters = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

export function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  return text.replace(/[\x80-\x9f]/g, character => characters[character.charCodeAt(0) - 0x80]!)
}
