// Decoded pixels on their way to sharp: 8 bits a channel, rows from the top, sRGB.

export type Raw = { data: Uint8Array; width: number; height: number; channels: 3 | 4 }
