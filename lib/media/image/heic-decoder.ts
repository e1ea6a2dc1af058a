// HEIC decoder: libheif in WebAssembly, loaded on first use (1.5 MB, 60 ms).
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Unreadable } from '../../base/errors.ts'
import type { RawImage } from './primitives.ts'
import { compile, instantiate, type WasmInstance, type WasmModule } from './wasm.ts'

/** The part of libheif that is used; the package's declarations type most of it as `any`. */
type Libheif = {
  heif_error_code: { heif_error_Ok: object }
  heif_colorspace: { heif_colorspace_RGB: object }
  heif_chroma: { heif_chroma_interleaved_RGBA: object }
  heif_context_alloc(): object
  heif_context_free(context: object): void
  heif_context_read_from_memory(context: object, bytes: Uint8Array): { code: object }
  /** Returns an error with a code instead of throwing. */
  heif_js_context_get_primary_image_handle(context: object): { code?: object }
  heif_js_decode_image2(
    handle: object,
    colorSpace: object,
    chroma: object,
  ): { code?: object; image: object; channels: Channel[] }
  heif_image_release(image: object): void
  heif_image_handle_release(handle: object): void
}
type Channel = { width: number; height: number; stride: number; data: Uint8Array }

const require = createRequire(import.meta.url)
let compiled: Promise<WasmModule> | null = null
let libheif: Promise<Libheif> | null = null

// The coded size may exceed the declared one, which was checked before.
const maxMemoryBytes = 512 * 1024 * 1024

/** Decodes the primary image with its transformations applied: about 250 ms per page. Throws Unreadable `unsupported_image`. */
export async function decodeHeic(bytes: Uint8Array): Promise<RawImage> {
  libheif ??= loadDecoder()
  const decoder = await libheif
  try {
    return decodePrimaryImage(decoder, bytes)
  } catch (cause) {
    if (cause instanceof Unreadable) throw cause
    // After a WASM trap the instance is in an undefined state.
    libheif = null
    throw undecodable({ cause })
  }
}

const undecodable = (options?: ErrorOptions) =>
  new Unreadable('The HEIC image cannot be decoded', 'unsupported_image', options)

// The package's HeifDecoder class prints errors to the console, so the C functions are called directly.
async function loadDecoder(): Promise<Libheif> {
  compiled ??= readFile(require.resolve('libheif-js/libheif-wasm/libheif.wasm')).then(compile)
  const module = await compiled
  const createLibheif = require('libheif-js/libheif-wasm/libheif.js')
  return createLibheif({
    print() {},
    printErr() {},
    instantiateWasm(imports: object, done: (instance: WasmInstance) => void) {
      const { instance } = instantiate(module, imports, maxMemoryBytes)
      done(instance)
      return instance.exports
    },
  })
}

function decodePrimaryImage(heif: Libheif, bytes: Uint8Array): RawImage {
  const context = heif.heif_context_alloc()
  try {
    const { code } = heif.heif_context_read_from_memory(context, bytes)
    if (code !== heif.heif_error_code.heif_error_Ok) throw undecodable()
    const handle = heif.heif_js_context_get_primary_image_handle(context)
    if (handle.code !== undefined) throw undecodable()
    try {
      return decodeImage(heif, handle)
    } finally {
      heif.heif_image_handle_release(handle)
    }
  } finally {
    heif.heif_context_free(context)
  }
}

function decodeImage(heif: Libheif, handle: object): RawImage {
  const { heif_colorspace_RGB } = heif.heif_colorspace
  const { heif_chroma_interleaved_RGBA } = heif.heif_chroma
  const decoded = heif.heif_js_decode_image2(
    handle,
    heif_colorspace_RGB,
    heif_chroma_interleaved_RGBA,
  )
  if (decoded.code !== undefined) throw undecodable()
  try {
    const [channel] = decoded.channels
    if (channel === undefined) throw undecodable()
    const { width, height, stride, data } = channel
    const rowBytes = width * 4
    const pixels = new Uint8Array(rowBytes * height)
    for (let y = 0; y < height; y++)
      pixels.set(data.subarray(y * stride, y * stride + rowBytes), y * rowBytes)
    return { data: pixels, width, height, channels: 4 }
  } finally {
    heif.heif_image_release(decoded.image)
  }
}
