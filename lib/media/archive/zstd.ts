// Zstandard data of one or more frames: Node's decoder stops after the first one before version 26.
import { zstdDecompressSync } from 'node:zlib'

// Encoders write frames of a megabyte and more; each takes a new decoder state.
const MAX_FRAMES = 4_096
const MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50

/**
 * Decodes all frames (RFC 8878). For truncated data, some Node versions return the beginning. Throws the
 * decoder's errors; ERR_BUFFER_TOO_LARGE beyond `maxBytes`.
 */
export function unpackZstd(packed: Buffer, maxBytes: number): Buffer {
  const parts: Buffer[] = []
  let bytes = 0
  let rest = afterSkippable(packed)
  do {
    if (parts.length === MAX_FRAMES) throw new Error('Too many Zstandard frames')
    // The decoder accepts no limit below 1.
    const options = { maxOutputLength: Math.max(1, maxBytes - bytes), info: true }
    const { buffer, engine } = zstdDecompressSync(rest, options) as unknown as WithInfo
    parts.push(buffer)
    bytes += buffer.length
    rest = afterSkippable(rest.subarray(engine.bytesWritten))
  } while (startsWith(rest, MAGIC) && bytes <= maxBytes)
  if (bytes > maxBytes)
    throw Object.assign(new RangeError('Too much data'), { code: 'ERR_BUFFER_TOO_LARGE' })
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

/** What zlib returns with the `info` option; `bytesWritten` is the number of bytes consumed. */
type WithInfo = { buffer: Buffer; engine: { bytesWritten: number } }

const startsWith = (data: Buffer, magic: number) =>
  data.length >= 4 && data.readUInt32LE(0) === magic

function afterSkippable(data: Buffer): Buffer {
  let position = 0
  while (position + 8 <= data.length) {
    if ((data.readUInt32LE(position) & ~0xf) >>> 0 !== SKIPPABLE_MAGIC) break
    position += 8 + data.readUInt32LE(position + 4)
  }
  return data.subarray(position)
}
