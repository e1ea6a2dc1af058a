// Rows of a table as compressed pieces of bounded size.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

export type Piece = { packed: Buffer; bytes: number; sha256: string }
export type PiecesTotal = { rows: number; bytes: number; sha256: string }

/** Uncompressed; a long row makes a piece longer. */
const pieceBytes = 4 * 1024 * 1024
/** A row of PostgreSQL has less than a gibibyte. */
export const maxPieceBytes = 1024 ** 3 + pieceBytes
// Without pauses, lists of a million books take half as long again meanwhile; nice values have no effect on that. With
// these, a sixth, and the backup takes two minutes instead of half a one.
const restPerWork = 3
// Level 3 takes a tenth of the time that PostgreSQL needs for the rows.
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
const parameters = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 }

export const sha256Of = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

/**
 * Passes on the pieces of `text`, from COPY, in order. One piece is compressed and stored while the next is
 * read, so that three are in memory at most.
 */
export async function packRows(
  text: AsyncIterable<Buffer>,
  store: (piece: Piece) => Promise<void>,
  { isGentle = false }: { isGentle?: boolean } = {},
): Promise<PiecesTotal> {
  const hash = createHash('sha256')
  const total = { rows: 0, bytes: 0 }
  let chunks: Buffer[] = []
  let length = 0
  let storing: Promise<void> = Promise.resolve()
  let began = performance.now()
  const flush = async () => {
    if (isGentle) await sleep((performance.now() - began) * restPerWork)
    began = performance.now()
    const text = Buffer.concat(chunks, length)
    chunks = []
    length = 0
    hash.update(text)
    total.bytes += text.length
    total.rows += lineCount(text)
    await storing
    storing = packPiece(text).then(store)
    // Awaited with the next piece.
    storing.catch(() => {})
  }
  for await (const chunk of text) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= pieceBytes) await flush()
  }
  if (length > 0) await flush()
  await storing
  return { ...total, sha256: hash.digest('hex') }
}

// Line breaks in values are escaped.
function lineCount(text: Buffer): number {
  let count = 0
  for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) count += 1
  return count
}

async function packPiece(text: Buffer): Promise<Piece> {
  const packed = await compress(text, { params: parameters })
  return { packed, bytes: text.length, sha256: sha256Of(packed) }
}

/** The text of a piece; `bytes` is the length that it must have. */
export const unpackPiece = (packed: Uint8Array, bytes: number): Promise<Buffer> =>
  decompress(packed, { maxOutputLength: Math.max(1, bytes) })
