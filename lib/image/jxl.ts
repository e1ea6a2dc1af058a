// JPEG XL to pixels with libjxl in WebAssembly, loaded on first need.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import createDecoder from '@jsquash/jxl/codec/dec/jxl_dec.js'
import { Unreadable } from '../errors.ts'
import type { Raw } from './raw.ts'
import {
  compile,
  instantiate,
  type WasmInstance,
  type WasmMemory,
  type WasmModule,
} from './wasm.ts'

type Decoded = { data: Uint8ClampedArray; width: number; height: number } | null
type Decoder = { decode(bytes: Uint8Array): Decoded; memory: WasmMemory | null }

// 62 bytes a pixel measured (295 MB for 2880×1620), so this is about 16 million pixels.
const mostMemory = 1024 * 1024 * 1024
const keepBelow = 64 * 1024 * 1024

let compiled: Promise<WasmModule> | null = null
let decoder: Promise<Decoder> | null = null

/** The first frame. 0.5 s a million pixels on the calling thread. Throws Unreadable `unsupported_image`. */
export async function decodeJxl(bytes: Uint8Array): Promise<Raw> {
  decoder ??= makeDecoder()
  const { decode, memory } = await decoder
  let decoded: Decoded = null
  try {
    decoded = decode(bytes)
  } catch (cause) {
    decoder = null
    throw new Unreadable('The JPEG XL image cannot be decoded', 'unsupported_image', { cause })
  }
  // WebAssembly memory never shrinks: a grown instance is dropped and the next image gets a new one.
  if (memory && memory.buffer.byteLength > keepBelow) decoder = null
  if (!decoded) throw new Unreadable('The JPEG XL image is damaged', 'unsupported_image')
  const { data, width, height } = decoded
  const pixels = new Uint8Array(data.buffer, data.byteOffset, data.length)
  return { data: pixels, width, height, channels: 4 }
}

async function makeDecoder(): Promise<Decoder> {
  // The package would fetch() its own file, which Node cannot do from disk.
  const file = fileURLToPath(import.meta.resolve('@jsquash/jxl/codec/dec/jxl_dec.wasm'))
  compiled ??= readFile(file).then(compile)
  const module = await compiled
  let memory: WasmMemory | null = null
  const decoding = await createDecoder({
    noInitialRun: true,
    print: () => {},
    printErr: () => {},
    instantiateWasm(imports: object, done: (made: WasmInstance) => void) {
      const made = instantiate(module, imports, mostMemory)
      memory = made.memory
      done(made.instance)
      return made.instance.exports
    },
  })
  return { decode: bytes => decoding.decode(bytes as Uint8Array<ArrayBuffer>), memory }
}
