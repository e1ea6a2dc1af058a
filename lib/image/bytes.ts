// Number reads for image headers that answer 0 beyond the end, so a cut header can never throw.

export const u16be = (b: Uint8Array, at: number) => ((b[at] ?? 0) << 8) | (b[at + 1] ?? 0)
export const u16le = (b: Uint8Array, at: number) => (b[at] ?? 0) | ((b[at + 1] ?? 0) << 8)
export const u24le = (b: Uint8Array, at: number) => u16le(b, at) | ((b[at + 2] ?? 0) << 16)
export const u32be = (b: Uint8Array, at: number) => u16be(b, at) * 65536 + u16be(b, at + 2)
export const u32le = (b: Uint8Array, at: number) => u16le(b, at + 2) * 65536 + u16le(b, at)
export const i32le = (b: Uint8Array, at: number) => u32le(b, at) | 0

/** Whether the ASCII `text` stands at `at`. */
export function isAt(b: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (b[at + i] !== text.charCodeAt(i)) return false
  return true
}
