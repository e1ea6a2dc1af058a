// HEIC to pixels with libheif in WebAssembly, loaded on first need (8.5 MB, 60 ms).
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { compileFunction } from 'node:vm'
import { Unreadable } from '../errors.ts'
import type { Raw } from './raw.ts'

type Decode = (input: {
  buffer: Uint8Array
}) => Promise<{ data: Uint8ClampedArray; width: number; height: number }>

const require = createRequire(import.meta.url)
const silent = { log() {}, warn() {}, error() {} }
let decoder: Decode | null = null
const known = ['mif1', 'msf1', 'heic', 'heix', 'hevc', 'hevx']

/** The primary image, turned as it asks. About 250 ms a page. Throws Unreadable `unsupported_image`. */
export async function decodeHeic(bytes: Uint8Array): Promise<Raw> {
  decoder ??= loadDecoder()
  try {
    const { data, width, height } = await decoder({ buffer: withKnownBrand(bytes) })
    const pixels = new Uint8Array(data.buffer, data.byteOffset, data.length)
    return { data: pixels, width, height, channels: 4 }
  } catch (cause) {
    throw new Unreadable('The HEIC image cannot be decoded', 'unsupported_image', { cause })
  }
}

/** The package refuses major brands it does not list, though libheif reads them all. */
function withKnownBrand(bytes: Uint8Array): Uint8Array {
  const brand = String.fromCharCode(...bytes.subarray(8, 12))
  if (known.includes(brand)) return bytes
  const copy = Uint8Array.from(bytes)
  copy.set(Buffer.from('heic'), 8)
  return copy
}

/** libheif prints what it cannot decode, so it is compiled with a console that says nothing. */
function loadDecoder(): Decode {
  const near = createRequire(require.resolve('heic-decode'))
  const file = near.resolve('libheif-js/libheif-wasm/libheif-bundle.js')
  const names = ['module', 'exports', 'require', 'console', '__dirname']
  const evaluate = compileFunction(readFileSync(file, 'utf8'), names, { filename: file })
  const module: { exports: unknown } = { exports: {} }
  evaluate(module, module.exports, near, silent, dirname(file))
  const makeLibrary = module.exports as () => unknown
  return require('heic-decode/lib.js')(makeLibrary()).one
}
