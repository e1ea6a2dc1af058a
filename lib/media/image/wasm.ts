// WebAssembly with a memory limit: a hostile file could grow a module to 2 GiB, and it would never shrink.
// Types are declared here because TypeScript only provides them with the DOM.
import { readFile } from 'node:fs/promises'

type WasmMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number }
type WasmInstance = { readonly exports: Record<string, unknown> }
type Wasm = {
  compile(code: Uint8Array): Promise<object>
  Instance: new (module: object, imports: object) => WasmInstance
  Memory: new (size: { initial: number }) => WasmMemory
}

const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly

/**
 * Returns a function that makes the options of an Emscripten module, whose memory cannot grow beyond `maxBytes`: C code
 * sees a failed allocation. The file is read and compiled once.
 */
export function boundedModule(file: () => string, maxBytes: number) {
  let compiled: Promise<object> | null = null
  return async () => {
    compiled ??= readFile(file()).then(code => wasm.compile(code))
    const module = await compiled
    let memory: WasmMemory | undefined
    return {
      memory: () => memory,
      noInitialRun: true,
      print() {},
      printErr() {},
      instantiateWasm(imports: object, done: (instance: WasmInstance) => void) {
        const instance = new wasm.Instance(module, imports)
        memory = Object.values(instance.exports).find(value => value instanceof wasm.Memory)
        if (!memory) throw new TypeError('The module exports no memory')
        limitMemory(memory, maxBytes)
        done(instance)
        return instance.exports
      },
    }
  }
}

function limitMemory(memory: WasmMemory, maxBytes: number) {
  const grow = memory.grow.bind(memory)
  memory.grow = pages => {
    if (memory.buffer.byteLength + pages * 65_536 > maxBytes)
      throw new RangeError('WebAssembly memory limit reached')
    return grow(pages)
  }
}
