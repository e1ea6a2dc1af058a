// Detects animations by their headers: GIF, and PNG, WebP and AVIF with more than one frame.
// png:  acTL before IDAT; chunk: u32 length, name, payload, crc
// webp: VP8X with the animation flag (2) in its first byte
// avif: brand "avis"
import { matchesAt, u32be } from './primitives.ts'

/** GIF is rarely used for anything else, and always counts as one. */
export function isAnimated(b: Uint8Array): boolean {
  if (matchesAt(b, 0, 'GIF8')) return true
  if (matchesAt(b, 0, 'RIFF')) return matchesAt(b, 8, 'WEBPVP8X') && (b[20]! & 2) !== 0
  if (matchesAt(b, 1, 'PNG')) return isAnimatedPng(b)
  return matchesAt(b, 4, 'ftypavis')
}

function isAnimatedPng(b: Uint8Array): boolean {
  for (let at = 8; at + 12 <= b.length; at += 12 + u32be(b, at)) {
    if (matchesAt(b, at + 4, 'acTL')) return true
    if (matchesAt(b, at + 4, 'IDAT')) return false
  }
  return false
}
