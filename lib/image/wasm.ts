// WebAssembly as far as we use it (TypeScript describes it only together with the DOM), and a
// ceiling for modules that would grow to 2 GiB on one hostile file and never shrink.

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

/** A new instance whose memory refuses to grow beyond `most` bytes, which C sees as a failed allocation. */
export function instantiate(module: WasmModule, imports: object, most: number) {
  const instance = new wasm.Instance(module, imports)
  const memory = Object.values(instance.exports).find(value => value instanceof wasm.Memory)
  if (!memory) throw new TypeError('The module exports no memory')
  const grow = memory.grow.bind(memory)
  memory.grow = pages => {
    if (memory.buffer.byteLength + pages * 65_536 > most) throw new RangeError('Memory is bounded')
    return grow(pages)
  }
  return { instance, memory }
}
