// MuPDF in WebAssembly: loaded on first need, silent, bounded in memory, and cleaned up after.
import { readFile } from 'node:fs/promises'
import type { PDFObject } from 'mupdf'
import { Unreadable } from '../../errors.ts'
import {
  compile,
  instantiate,
  type WasmInstance,
  type WasmMemory,
  type WasmModule,
} from '../../image/wasm.ts'

export type Mupdf = typeof import('mupdf')
type Destroyable = { destroy(): void; pointer: number }
export type Engine = {
  mupdf: Mupdf
  /** After a trap nothing in it may be touched, not even to destroy it. */
  isBroken(): boolean
  /**
   * Runs `call` and answers its errors as Unreadable. Things made within `call` and handed to
   * `keep` are destroyed after it, last first.
   */
  run<T>(call: (keep: Keep) => T): T
}
export type Keep = <T extends Destroyable>(made: T) => T

// A page of 25 million pixels takes 75 MB beside its decoded images. Memory never shrinks again.
const mostMemory = 768 * 1024 * 1024
const mostLoads = 8

/** What lies at `path` below `object`; PDFObject.Null when any step is missing, which `get` alone would not survive. */
export function at(keep: Keep, object: PDFObject, ...path: (string | number)[]): PDFObject {
  return object.isNull() ? object : keep(object.get(...path))
}

let compiled: Promise<WasmModule> | null = null
let loading: Promise<Engine> | null = null
let loads = 0

/** The engine of this thread: 250 ms and 100 MB the first time. */
export async function loadEngine(): Promise<Engine> {
  if ((await loading)?.isBroken()) {
    // Every instance of a trapped engine stays in memory: past a few the thread must be replaced.
    if (loads >= mostLoads) throw new Unreadable('The PDF engine is broken', 'memory')
    loading = null
  }
  loading ??= load()
  return loading
}

async function load(): Promise<Engine> {
  const home = import.meta.resolve('mupdf')
  compiled ??= readFile(new URL('mupdf-wasm.wasm', home)).then(compile)
  const code = await compiled
  let memory: WasmMemory | null = null
  const wanted = {
    instantiateWasm(imports: object, done: (made: WasmInstance) => void) {
      const made = instantiate(code, imports, mostMemory)
      memory = made.memory
      done(made.instance)
    },
  }
  // MuPDF takes the settings of its module from this global. After a trap a second
  // instance is had under another name, as modules are evaluated once.
  const shared = globalThis as { $libmupdf_wasm_Module?: unknown }
  shared.$libmupdf_wasm_Module = wanted
  const mupdf: Mupdf = await (loads++ === 0 ? import('mupdf') : import(`${home}?load=${loads}`))
  delete shared.$libmupdf_wasm_Module
  mupdf.setLog({})
  withoutFinalizers(mupdf)
  correctReferences(mupdf, memory)
  return makeEngine(mupdf)
}

function makeEngine(mupdf: Mupdf): Engine {
  let isBroken = false
  const run = <T>(call: (keep: Keep) => T): T => {
    const kept: Destroyable[] = []
    try {
      return call(made => {
        kept.push(made)
        return made
      })
    } catch (cause) {
      isBroken ||= isTrap(cause)
      throw explain(cause)
    } finally {
      if (!isBroken) for (const made of kept.reverse()) made.destroy()
    }
  }
  return { mupdf, run, isBroken: () => isBroken }
}

/** Everything is destroyed by hand; a finalizer would run at any time, and into an engine that trapped. */
function withoutFinalizers(mupdf: Mupdf): void {
  const inert = { register() {}, unregister() {} }
  for (const made of Object.values(mupdf))
    if (typeof made === 'function') Object.assign(made, { _finalizer: inert })
}

/**
 * mupdf 1.28.1 counts one reference too many for every PDFObject but the trailer, so that pages
 * would stay in memory for ever. A new object must have one; the count is its first 16 bits.
 */
function correctReferences(mupdf: Mupdf, memory: WasmMemory | null): void {
  const document = new mupdf.PDFDocument()
  const probe = document.newReal(0.5)
  const references = memory ? new Int16Array(memory.buffer, probe.pointer, 1)[0] : 1
  if (references === 2) {
    const drop = mupdf.PDFObject._drop as (pointer: number) => void
    drop(probe.pointer)
    const { prototype } = mupdf.PDFDocument
    for (const name of ['_fromPDFObjectNew', '_fromPDFObjectKeep'] as const) {
      const wrap = prototype[name]
      prototype[name] = function (pointer) {
        const made = wrap.call(this, pointer)
        drop(made.pointer)
        return made
      }
    }
  }
  probe.destroy()
  document.destroy()
}

/** MuPDF throws plain Errors with its message; these come from under it. */
function isTrap(cause: unknown): boolean {
  if (!(cause instanceof Error)) return true
  return cause.name === 'RuntimeError' || /call stack/.test(cause.message)
}

function explain(cause: unknown): Unreadable {
  if (cause instanceof Unreadable) return cause
  const message = cause instanceof Error ? cause.message : ''
  if (isTrap(cause) || /malloc|memory|limit/i.test(message))
    return new Unreadable('The PDF needs more memory than allowed', 'memory', { cause })
  if (/encrypt|password|security handler|crypt filter/i.test(message))
    return new Unreadable('The PDF is encrypted', 'encrypted', { cause })
  if (/no objects found|not a PDF/i.test(message))
    return new Unreadable('This is no PDF', 'not_an_archive', { cause })
  return new Unreadable('The PDF is damaged', 'truncated', { cause })
}
