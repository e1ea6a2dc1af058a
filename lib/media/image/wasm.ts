// WebAssembly with a memory limit: modules could grow to 2 GiB on a hostile file and never shrink. Types are
// declared here because TypeScript provides them only together with the DOM.

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

/** A new instance whose memory cannot grow beyond `maxBytes`, which C code sees as a failed allocation. */
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
