// libarchive in WebAssembly: forward-only reader of an archive copied into its memory; random access to solid streams.
import { readFile } from 'node:fs/promises'
import { Unreadable, type UnreadableCode } from '../../base/errors.ts'
import type { File } from '../../base/file.ts'

/** A piece of the archive to read: literal bytes, or a span of the open file. */
type Span = Uint8Array | { position: number; length: number }

/** Forward-only reader of archive entries. Methods throw only Unreadable. */
export type ForwardReader = Disposable & {
  /** Advances to the next regular file; false at the end. */
  next(): boolean
  /** The next `bytes` of the entry. The caller must know its size: libarchive does not report an early end. */
  read(bytes: number): Uint8Array
}

type LibarchiveModule = {
  HEAPU8: Uint8Array
  hasTrapped: boolean
  _malloc(bytes: number): number
  _free(pointer: number): void
  runCode: {
    openArchive(buffer: number, bytes: number, passphrase: null, locale: string): number
    getNextEntry(archive: number): number
    getEntryType(entry: number): number
    getFileData(archive: number, bytes: number): number
    getError(archive: number): string
    closeArchive(archive: number): void
  }
}

const home = 'libarchive.js/src/webworker'
const REGULAR_FILE = 0o100000
// WASM memory never shrinks, so a larger instance is discarded after use.
const MAX_RETAINED_BYTES = 192 * 1024 * 1024
let modulePromise: Promise<LibarchiveModule> | null = null

async function loadModule(): Promise<LibarchiveModule> {
  // Read here, because errors of the package's own loader cannot be caught.
  const wasm = await readFile(new URL(import.meta.resolve(`${home}/wasm-gen/libarchive.wasm`)))
  // @ts-expect-error the package has no types for its inner modules
  const { WasmModule, getWasmModule } = await import('libarchive.js/src/webworker/wasm-module.js')
  // The module prints every read error of a damaged archive.
  WasmModule.prototype.printErr = () => {}
  WasmModule.prototype.print = () => {}
  WasmModule.prototype.wasmBinary = wasm
  const core = await new Promise<LibarchiveModule>(resolve => getWasmModule(resolve))
  core.hasTrapped = false
  return core
}

/**
 * Copies the spans into WASM memory and opens them as one archive. Throws Unreadable: `too_large`,
 * `truncated`, `memory`, and libarchive's errors.
 */
export async function openLibarchive(
  file: File,
  spans: readonly Span[],
  maxBytes: number,
): Promise<ForwardReader> {
  const total = spans.reduce((sum, span) => sum + span.length, 0)
  if (total > maxBytes) throw new Unreadable('The archive is too large to unpack', 'too_large')
  await file.preload?.(spans.filter(span => 'position' in span))
  modulePromise ??= loadModule()
  const core = await modulePromise
  const buffer = callGuarded(core, () => core._malloc(total + 1)) >>> 0
  if (buffer === 0) throw new Unreadable('Not enough memory to unpack the archive', 'memory')
  let archive = 0
  try {
    copySpans(core, file, spans, buffer)
    archive = callGuarded(core, () => core.runCode.openArchive(buffer, total, null, 'en_US.UTF-8'))
    if (archive === 0) throw new Unreadable('The archive cannot be unpacked', 'not_an_archive')
  } catch (error) {
    if (!core.hasTrapped) core._free(buffer)
    throw error
  }
  return createReader(core, archive, buffer)
}

function copySpans(core: LibarchiveModule, file: File, spans: readonly Span[], buffer: number) {
  let offset = buffer
  for (const span of spans) {
    const target = core.HEAPU8.subarray(offset, offset + span.length)
    if (span instanceof Uint8Array) target.set(span)
    else if (file.readInto(target, span.position) < span.length)
      throw new Unreadable('The file ends too early', 'truncated')
    offset += span.length
  }
}

function createReader(core: LibarchiveModule, archive: number, buffer: number): ForwardReader {
  let isOpen = true
  const fail = () => {
    const message = callGuarded(core, () => core.runCode.getError(archive)) || ''
    return new Unreadable(
      `The archive cannot be unpacked: ${message || 'unexpected end'}`,
      unreadableCode(message),
    )
  }
  return {
    next() {
      for (;;) {
        const entry = callGuarded(core, () => core.runCode.getNextEntry(archive))
        if (entry === 0) return false
        if (callGuarded(core, () => core.runCode.getEntryType(entry)) === REGULAR_FILE) return true
      }
    },
    read(bytes) {
      if (bytes === 0) return new Uint8Array()
      const pointer = callGuarded(core, () => core.runCode.getFileData(archive, bytes))
      // Errors are small negative numbers; pointers above 2 GiB are negative too.
      if (pointer === 0 || (pointer < 0 && pointer > -1000)) throw fail()
      const start = pointer >>> 0
      const copy = core.HEAPU8.slice(start, start + bytes)
      callGuarded(core, () => core._free(pointer))
      return copy
    },
    [Symbol.dispose]() {
      if (!isOpen) return
      isOpen = false
      if (core.hasTrapped) return
      callGuarded(core, () => {
        core.runCode.closeArchive(archive)
        core._free(buffer)
      })
      if (core.HEAPU8.length > MAX_RETAINED_BYTES) modulePromise = null
    },
  }
}

// A WASM trap leaves the instance in an undefined state: the next archive gets a new one.
function callGuarded<T>(core: LibarchiveModule, call: () => T): T {
  if (core.hasTrapped) throw new Unreadable('The archive cannot be unpacked', 'bad_crc')
  try {
    return call()
  } catch (cause) {
    core.hasTrapped = true
    modulePromise = null
    throw new Unreadable('The archive cannot be unpacked', 'bad_crc', { cause })
  }
}

function unreadableCode(message: string): UnreadableCode {
  if (/encrypt|passphrase/i.test(message)) return 'encrypted'
  if (/truncated/i.test(message)) return 'truncated'
  if (/unsupported|not supported|unavailable|codec/i.test(message)) return 'unsupported_method'
  if (/allocate|memory/i.test(message)) return 'memory'
  return 'bad_crc'
}

/** Reads the members of a solid stream by number: decompresses forward, and restarts only to go back. */
export type SolidStream = Disposable & {
  /** The first `bytes` of member `number`, at most its size. Throws Unreadable. */
  read(number: number, bytes: number): Promise<Uint8Array>
}

/** `open` starts the stream from its beginning; members are numbered from zero. */
export function createSolidStream(open: () => Promise<ForwardReader>): SolidStream {
  let reader: ForwardReader | null = null
  let current = -1
  let buffered: Uint8Array = new Uint8Array()
  let failure: { number: number; error: unknown } | null = null

  const stop = () => {
    reader?.[Symbol.dispose]()
    reader = null
    current = -1
  }
  const advance = async (number: number, bytes: number) => {
    if (reader === null || number < current) {
      stop()
      reader = await open()
    }
    while (current < number) {
      if (!reader.next()) throw new Unreadable('The archive ends too early', 'truncated')
      current += 1
      buffered = new Uint8Array()
    }
    if (buffered.length < bytes) buffered = concat(buffered, reader.read(bytes - buffered.length))
    return buffered.subarray(0, bytes)
  }
  return {
    async read(number, bytes) {
      // Everything after a damaged member is lost; retrying would decompress the whole stream again.
      if (failure !== null && number >= failure.number) throw failure.error
      try {
        return await advance(number, bytes)
      } catch (error) {
        stop()
        failure = { number, error }
        throw error
      }
    },
    [Symbol.dispose]: stop,
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
