// Folders of a 7z archive: a graph of coders that unpacks to one stream of files.
import { damaged } from './header-reader.ts'

export type Coder = { id: string; properties: Buffer; inputs: number; outputs: number }
export type Folder = {
  coders: Coder[]
  /** Output `output` is connected to input `input`, both numbered over all coders. */
  bindPairs: { input: number; output: number }[]
  /** The inputs that the pack streams are connected to. */
  packedInputs: number[]
  packStreams: { position: number; length: number }[]
  /** Uncompressed bytes of each output. */
  unpackSizes: number[]
  crc: number | null
  /** The folder as serialized in the header. */
  raw: Buffer
  substreams: Substream[]
}
export type Substream = { sizeBytes: number; crc: number | null }
/** The output that is not connected to an input: the result of the folder. */
export function mainOutput(folder: Folder): number {
  for (let i = 0; i < folder.unpackSizes.length; i += 1)
    if (!folder.bindPairs.some(({ output }) => output === i)) return i
  throw damaged()
}

/** Uncompressed bytes of the folder. */
export const unpackSizeOf = (folder: Folder) => folder.unpackSizes[mainOutput(folder)]!
