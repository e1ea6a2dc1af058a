// libarchive compiled to WASM: one forward pass over an archive copied into its memory.

import { Unreadable, type UnreadableCode } from '../errors.ts'
import type { File } from '../file.ts'

/** Bytes of an archive to be: literal, or a span of the open file. */
export type Span = Uint8Array | { position: number; length: number }

/** A forward pass. Every method throws Unreadable, nothing else. */
export type Pass = Disposable & {
  /** Moves to the next entry that is a file; false at the end. */
  next(): boolean
  /** The next `bytes` of the entry; the caller knows how long it is, libarchive does not tell when it ends early. */
  read(bytes: number): Uint8Array
}

type Core = {
  HEAPU8: Uint8Array
  isDead: boolean
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

const REGULAR = 0o100000
// Beyond this the instance is dropped after use, because WASM memory never shrinks.
const KEEP_BYTES = 192 * 1024 * 1024
let shared: Promise<Core> | null = null

async function load(): Promise<Core> {
  // @ts-expect-error the package has no types for its inner modules
  const { WasmModule, getWasmModule } = await import('libarchive.js/src/webworker/wasm-module.js')
  // It prints each read error of a damaged archive.
  WasmModule.prototype.printErr = () => {}
  WasmModule.prototype.print = () => {}
  const core = await new Promise<Core>(resolve => getWasmModule(resolve))
  core.isDead = false
  return core
}

/** Copies the spans into WASM memory and opens them as one archive. Throws Unreadable: `too_large`, `truncated`, `memory`, and what libarchive says. */
export async function openPass(
  file: File,
  spans: readonly Span[],
  maxBytes: number,
): Promise<Pass> {
  const total = spans.reduce((sum, span) => sum + span.length, 0)
  if (total > maxBytes) throw new Unreadable('The archive is too large to unpack', 'too_large')
  shared ??= load()
  const core = await shared
  const buffer = guarded(core, () => core._malloc(total + 1)) >>> 0
  if (buffer === 0) throw new Unreadable('Not enough memory to unpack the archive', 'memory')
  let archive = 0
  try {
    fill(core, file, spans, buffer)
    archive = guarded(core, () => core.runCode.openArchive(buffer, total, null, 'en_US.UTF-8'))
    if (archive === 0) throw new Unreadable('The archive cannot be unpacked', 'not_an_archive')
  } catch (error) {
    if (!core.isDead) core._free(buffer)
    throw error
  }
  return pass(core, archive, buffer)
}

function fill(core: Core, file: File, spans: readonly Span[], buffer: number) {
  let at = buffer
  for (const span of spans) {
    const target = core.HEAPU8.subarray(at, at + span.length)
    if (span instanceof Uint8Array) target.set(span)
    else if (file.readInto(target, span.position) < span.length)
      throw new Unreadable('The file ends too early', 'truncated')
    at += span.length
  }
}

function pass(core: Core, archive: number, buffer: number): Pass {
  let isOpen = true
  const fail = () => {
    const said = guarded(core, () => core.runCode.getError(archive)) || ''
    return new Unreadable(`The archive cannot be unpacked: ${said || 'unexpected end'}`, code(said))
  }
  return {
    next() {
      for (;;) {
        const entry = guarded(core, () => core.runCode.getNextEntry(archive))
        if (entry === 0) return false
        if (guarded(core, () => core.runCode.getEntryType(entry)) === REGULAR) return true
      }
    },
    read(bytes) {
      if (bytes === 0) return new Uint8Array()
      const pointer = guarded(core, () => core.runCode.getFileData(archive, bytes))
      // Errors are small negative numbers; pointers above 2 GiB are negative as well.
      if (pointer === 0 || (pointer < 0 && pointer > -1000)) throw fail()
      const at = pointer >>> 0
      const copy = core.HEAPU8.slice(at, at + bytes)
      guarded(core, () => core._free(pointer))
      return copy
    },
    [Symbol.dispose]() {
      if (!isOpen) return
      isOpen = false
      if (core.isDead) return
      guarded(core, () => {
        core.runCode.closeArchive(archive)
        core._free(buffer)
      })
      if (core.HEAPU8.length > KEEP_BYTES) shared = null
    },
  }
}

// A trap leaves the instance in an unknown state: the next archive gets a new one.
function guarded<T>(core: Core, call: () => T): T {
  if (core.isDead) throw new Unreadable('The archive cannot be unpacked', 'bad_crc')
  try {
    return call()
  } catch (cause) {
    core.isDead = true
    shared = null
    throw new Unreadable('The archive cannot be unpacked', 'bad_crc', { cause })
  }
}

function code(said: string): UnreadableCode {
  if (/encrypt|passphrase/i.test(said)) return 'encrypted'
  if (/truncated/i.test(said)) return 'truncated'
  if (/unsupported|not supported|unavailable|codec/i.test(said)) return 'unsupported_method'
  if (/allocate|memory/i.test(said)) return 'memory'
  return 'bad_crc'
}
