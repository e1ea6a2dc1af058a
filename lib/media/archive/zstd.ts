// Zstandard data of one or several frames: the decoder of Node before 26 ends after the first.
import { zstdDecompressSync } from 'node:zlib'

// Encoders write frames of a megabyte and more; each costs the decoder a new state.
const MAX_FRAMES = 4_096
const MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50

/**
 * Decodes all frames (RFC 8878). Of truncated data, some versions of Node return the beginning. Throws the decoder's
 * error; ERR_BUFFER_TOO_LARGE for more than `maxBytes`.
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

/** What zlib returns with the option `info`; `bytesWritten` are the bytes that it consumed. */
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
