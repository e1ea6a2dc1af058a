// What a header reader answers.

/** Pixels as displayed: orientation applied. */
export type Size = { width: number; height: number }

/** A size; the number of leading bytes the reader must see to go on; or null: the header does not tell. */
export type Answer = Size | number | null

/** Reads what the first bytes of an image say. Never throws, whatever the bytes are. */
export type HeaderReader = (head: Uint8Array) => Answer

// What a signed 32-bit column can hold; PNG forbids more as well.
const maxSide = 0x7fffffff

/** EXIF orientations 5 to 8 stand on their side. */
export function displayed(width: number, height: number, orientation = 1): Size | null {
  if (!(width > 0 && height > 0 && width <= maxSide && height <= maxSide)) return null
  const isTurned = orientation >= 5 && orientation <= 8
  return isTurned ? { width: height, height: width } : { width, height }
}
