// WebAssembly with a memory limit: a hostile file could grow a module to 2 GiB, and it would never shrink.
// Types are declared here because TypeScript only provides them with the DOM.

export type WasmMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number }
export type WasmInstance = { readonly exports: Record<string, unknown> }
export type WasmModule = object
type Wasm = {
  compile(code: Uint8Array): Promise<WasmModule>
  Instance: new (module: WasmModule, imports: object) => WasmInstance
  Memory: new (size: { initial: number }) => WasmMemory
}

const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly

export const compile = (code: Uint8Array): Promise<WasmModule> => wasm.compile(code)

/** A new instance whose memory cannot grow beyond `maxBytes`; C code sees a failed allocation. */
export function instantiate(module: WasmModule, imports: object, maxBytes: number) {
  const instance = new wasm.Instance(module, imports)
  const memory = Object.values(instance.exports).find(value => value instanceof wasm.Memory)
  if (!memory) throw new TypeError('The module exports no memory')
  const grow = memory.grow.bind(memory)
  memory.grow = pages => {
    if (memory.buffer.byteLength + pages * 65_536 > maxBytes)
      throw new RangeError('WebAssembly memory limit reached')
    return grow(pages)
  }
  return { instance, memory }
}
