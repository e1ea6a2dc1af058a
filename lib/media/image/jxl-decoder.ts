// JPEG XL decoder: libjxl in WebAssembly, loaded on first use.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import createDecoder from '@jsquash/jxl/codec/dec/jxl_dec.js'
import { Unreadable } from '../../base/errors.ts'
import type { RawImage } from './primitives.ts'
import {
  compile,
  instantiate,
  type WasmInstance,
  type WasmMemory,
  type WasmModule,
} from './wasm.ts'

type Decoded = { data: Uint8ClampedArray; width: number; height: number } | null
type Decoder = { decode(bytes: Uint8Array): Decoded; memory: WasmMemory | null }

// Measured: 62 bytes per pixel (295 MB for 2880×1620), so this is enough for about 16 million pixels.
const maxMemoryBytes = 1024 * 1024 * 1024
const maxRetainedBytes = 64 * 1024 * 1024

let compiled: Promise<WasmModule> | null = null
let decoder: Promise<Decoder> | null = null

/** Decodes the first frame: 0.5 s per million pixels on the calling thread. Throws Unreadable `unsupported_image`. */
export async function decodeJxl(bytes: Uint8Array): Promise<RawImage> {
  decoder ??= loadDecoder()
  const { decode, memory } = await decoder
  let decoded: Decoded = null
  try {
    decoded = decode(bytes)
  } catch (cause) {
    decoder = null
    throw new Unreadable('The JPEG XL image cannot be decoded', 'unsupported_image', { cause })
  }
  // WASM memory never shrinks: a grown instance is discarded, and the next image gets a new one.
  if (memory && memory.buffer.byteLength > maxRetainedBytes) decoder = null
  if (!decoded) throw new Unreadable('The JPEG XL image is damaged', 'unsupported_image')
  const { data, width, height } = decoded
  const pixels = new Uint8Array(data.buffer, data.byteOffset, data.length)
  return { data: pixels, width, height, channels: 4 }
}

async function loadDecoder(): Promise<Decoder> {
  // The package would fetch() its WASM file, which Node does not support for local files.
  const file = fileURLToPath(import.meta.resolve('@jsquash/jxl/codec/dec/jxl_dec.wasm'))
  compiled ??= readFile(file).then(compile)
  const module = await compiled
  let memory: WasmMemory | null = null
  const decoding = await createDecoder({
    noInitialRun: true,
    print: () => {},
    printErr: () => {},
    instantiateWasm(imports: object, done: (instance: WasmInstance) => void) {
      const bounded = instantiate(module, imports, maxMemoryBytes)
      memory = bounded.memory
      done(bounded.instance)
      return bounded.instance.exports
    },
  })
  return { decode: bytes => decoding.decode(bytes as Uint8Array<ArrayBuffer>), memory }
}
