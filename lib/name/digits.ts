// Decimal digits of every script as ASCII, so that `第１２話`, `เล่ม ๓` and `٣` count like `12` and `3`.

// First code point (zero) of each Nd block of the scripts that number books; each has ten in order.
const zeros = [
  0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
  0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x17e0, 0x1810, 0xff10,
]
const zeroOf = new Map(
  zeros.flatMap(zero => Array.from({ length: 10 }, (_, i) => [zero + i, zero] as const)),
)
const foreignDigit = /[^\P{Nd}0-9]/gu

/** `text` with the decimal digits of other scripts replaced by ASCII ones; same length in characters. */
export function asciiDigits(text: string): string {
  return text.replace(foreignDigit, digit => {
    const zero = zeroOf.get(digit.codePointAt(0) ?? 0)
    return zero === undefined ? digit : String.fromCharCode(0x30 + digit.charCodeAt(0) - zero)
  })
}
