// Decoders in WebAssembly, loaded on first use: libheif for HEIC (1.5 MB, 60 ms), libjxl for JPEG XL.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import createDecoder from '@jsquash/jxl/codec/dec/jxl_dec.js'
import { Unreadable } from '../../base/errors.ts'
import type { RawImage } from './primitives.ts'
import { boundedModule } from './wasm.ts'

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
// The coded size may exceed the declared one, which was checked before.
const maxHeicBytes = 512 * 1024 * 1024
const heicOptions = boundedModule(
  () => require.resolve('libheif-js/libheif-wasm/libheif.wasm'),
  maxHeicBytes,
)
let libheif: Promise<Libheif> | null = null

/** Decodes the primary image with its transformations applied: about 250 ms per page. Throws Unreadable `unsupported_image`. */
export async function decodeHeic(bytes: Uint8Array): Promise<RawImage> {
  libheif ??= loadLibheif()
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
async function loadLibheif(): Promise<Libheif> {
  const options = await heicOptions()
  return require('libheif-js/libheif-wasm/libheif.js')(options)
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

type Decoded = { data: Uint8ClampedArray; width: number; height: number } | null
type Decoder = { decode(bytes: Uint8Array): Decoded; memoryBytes: () => number }

// Measured: 62 bytes per pixel (295 MB for 2880×1620), so this is enough for about 16 million pixels.
const maxJxlBytes = 1024 * 1024 * 1024
const maxRetainedBytes = 64 * 1024 * 1024

// The package would fetch() its WASM file, which Node does not support for local files.
const jxlOptions = boundedModule(
  () => fileURLToPath(import.meta.resolve('@jsquash/jxl/codec/dec/jxl_dec.wasm')),
  maxJxlBytes,
)
let libjxl: Promise<Decoder> | null = null

/** Decodes the first frame: 0.5 s per million pixels on the calling thread. Throws Unreadable `unsupported_image`. */
export async function decodeJxl(bytes: Uint8Array): Promise<RawImage> {
  libjxl ??= loadLibjxl()
  const { decode, memoryBytes } = await libjxl
  let decoded: Decoded = null
  try {
    decoded = decode(bytes)
  } catch (cause) {
    libjxl = null
    throw new Unreadable('The JPEG XL image cannot be decoded', 'unsupported_image', { cause })
  }
  // WASM memory never shrinks: a grown instance is discarded, and the next image gets a new one.
  if (memoryBytes() > maxRetainedBytes) libjxl = null
  if (!decoded) throw new Unreadable('The JPEG XL image is damaged', 'unsupported_image')
  const { data, width, height } = decoded
  const pixels = new Uint8Array(data.buffer, data.byteOffset, data.length)
  return { data: pixels, width, height, channels: 4 }
}

async function loadLibjxl(): Promise<Decoder> {
  const options = await jxlOptions()
  const decoding = await createDecoder(options)
  return {
    decode: bytes => decoding.decode(bytes as Uint8Array<ArrayBuffer>),
    memoryBytes: () => options.memory()?.buffer.byteLength ?? 0,
  }
}
