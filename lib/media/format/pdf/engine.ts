// MuPDF engine in WebAssembly: loaded on first use, silent, with a memory limit and explicit cleanup.
import { fileURLToPath } from 'node:url'
import type { PDFObject } from 'mupdf'
import { Unreadable } from '../../../base/errors.ts'
import { boundedModule } from '../../image/wasm.ts'

export type Mupdf = typeof import('mupdf')
type Destroyable = { destroy(): void; pointer: number }
export type Engine = {
  mupdf: Mupdf
  /** How many times it was used. */
  uses: number
  /** Whether it has trapped: then no object may be used, not even destroyed. */
  isBroken(): boolean
  /**
   * Runs `call` and converts its errors to Unreadable. Afterwards, destroys the objects passed to `track` in
   * reverse order.
   */
  run<T>(call: (track: Track) => T): T
}
export type Track = <T extends Destroyable>(object: T) => T

// A page of 25 million pixels takes 75 MB in addition to its decoded images. WASM memory never shrinks.
const maxMemoryBytes = 768 * 1024 * 1024
const maxLoads = 8

/** The value at `path` below `object`; PDFObject.Null if a step is missing, where `get` alone would fail. */
export function getPath(track: Track, object: PDFObject, ...path: (string | number)[]): PDFObject {
  return object.isNull() ? object : track(object.get(...path))
}

const home = import.meta.resolve('mupdf')
const moduleOptions = boundedModule(
  () => fileURLToPath(new URL('mupdf-wasm.wasm', home)),
  maxMemoryBytes,
)
let loading: Promise<Engine> | null = null
let loads = 0

/** The engine of this thread; the first call takes 250 ms and 100 MB. */
export async function loadEngine(): Promise<Engine> {
  if ((await loading)?.isBroken()) {
    // Instances of trapped engines stay in memory: after a few, the thread must be replaced.
    if (loads >= maxLoads) throw new Unreadable('The PDF engine is broken', 'memory')
    loading = null
  }
  loading ??= load()
  const engine = await loading
  engine.uses += 1
  return engine
}

// Each replaced engine stays in memory until its thread ends.
const maxReplacements = 2
let replacements = 0

/**
 * A new engine to replace one that was used for other files before; null if there is no reason to, or after
 * too many.
 */
export async function replaceEngine(engine: Engine): Promise<Engine | null> {
  if (engine.uses <= 1 || replacements >= maxReplacements || loads >= maxLoads) return null
  replacements += 1
  loading = load()
  return loadEngine()
}

async function load(): Promise<Engine> {
  const options = await moduleOptions()
  // MuPDF reads its module options from this global. After a trap another instance is loaded from a different
  // URL, because modules are evaluated only once.
  const shared = globalThis as { $libmupdf_wasm_Module?: unknown }
  shared.$libmupdf_wasm_Module = options
  const mupdf: Mupdf = await (loads++ === 0 ? import('mupdf') : import(`${home}?load=${loads}`))
  delete shared.$libmupdf_wasm_Module
  mupdf.setLog({})
  disableFinalizers(mupdf)
  fixReferenceCounts(mupdf, options.memory()!)
  return createEngine(mupdf)
}

function createEngine(mupdf: Mupdf): Engine {
  let isBroken = false
  const run = <T>(call: (track: Track) => T): T => {
    const tracked: Destroyable[] = []
    try {
      return call(object => {
        tracked.push(object)
        return object
      })
    } catch (cause) {
      isBroken ||= isTrap(cause)
      throw toUnreadable(cause)
    } finally {
      if (!isBroken) for (const object of tracked.reverse()) object.destroy()
    }
  }
  return { mupdf, run, uses: 0, isBroken: () => isBroken }
}

/** Objects are destroyed explicitly; a finalizer could run in an engine that has trapped. */
function disableFinalizers(mupdf: Mupdf): void {
  const inert = { register() {}, unregister() {} }
  for (const value of Object.values(mupdf))
    if (typeof value === 'function') Object.assign(value, { _finalizer: inert })
}

/**
 * mupdf 1.28.1 counts one reference too many for every PDFObject except the trailer, which leaks pages. A new
 * object must have one reference; the count is in its first 16 bits.
 */
function fixReferenceCounts(mupdf: Mupdf, memory: { buffer: ArrayBuffer }): void {
  const document = new mupdf.PDFDocument()
  const probe = document.newReal(0.5)
  if (new Int16Array(memory.buffer, probe.pointer, 1)[0] === 2) {
    const drop = mupdf.PDFObject._drop as (pointer: number) => void
    drop(probe.pointer)
    const { prototype } = mupdf.PDFDocument
    for (const name of ['_fromPDFObjectNew', '_fromPDFObjectKeep'] as const) {
      const wrap = prototype[name]
      prototype[name] = function (pointer) {
        const object = wrap.call(this, pointer)
        drop(object.pointer)
        return object
      }
    }
  }
  probe.destroy()
  document.destroy()
}

/** Whether an error is a trap of the WASM runtime; MuPDF itself throws plain Errors. */
export function isTrap(cause: unknown): boolean {
  if (!(cause instanceof Error)) return true
  return cause.name === 'RuntimeError' || /call stack/.test(cause.message)
}

function toUnreadable(cause: unknown): Unreadable {
  if (cause instanceof Unreadable) return cause
  const message = cause instanceof Error ? cause.message : ''
  if (isTrap(cause) || /malloc|memory|limit/i.test(message))
    return new Unreadable('The PDF needs more memory than allowed', 'memory', { cause })
  if (/encrypt|password|security handler|crypt filter/i.test(message))
    return new Unreadable('The PDF is encrypted', 'encrypted', { cause })
  if (/no objects found|not a PDF/i.test(message))
    return new Unreadable('The file is not a PDF', 'not_an_archive', { cause })
  return new Unreadable('The PDF is damaged', 'truncated', { cause })
}
