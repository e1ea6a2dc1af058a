// Values whose long arrays of numbers are in a temporary file instead of memory.
import type { TemporaryFile } from './temporary-file.ts'

export type FileStored<Value> = {
  /** A copy of the value. Throws errno errors. */
  load(): Promise<Value>
  /** Gives back the space. */
  discard(): Promise<void>
}

type Numbers =
  | Uint32Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Buffer

/** An array in the file, by the bytes that it begins at and has. */
type Part = { position: number; length: number; create(bytes: number): Numbers }

/** Shorter arrays stay in memory. */
const minBytes = 64
/** Leaves threads of the pool for other reads. */
const readers = 2

/**
 * Stores the arrays in a value of objects, lists and maps, which must not change meanwhile. Null without space.
 * Throws errno errors.
 */
export async function storeInFile<Value>(
  createFile: () => Promise<TemporaryFile | null>,
  value: Value,
): Promise<FileStored<Value> | null> {
  const file = await createFile()
  if (!file) return null
  const { outline, parts } = withParts(value)
  let isWhole = false
  try {
    for (const numbers of parts.keys()) {
      if (!file.hasSpace()) return null
      await file.append(bytesOf(numbers))
    }
    isWhole = true
  } finally {
    if (!isWhole) await file.discard()
  }
  return storedIn(file, outline as Value, [...parts.values()])
}

/** The value with parts of a file in the place of its arrays. */
function withParts(value: unknown): { outline: unknown; parts: Map<Numbers, Part> } {
  const parts = new Map<Numbers, Part>()
  let end = 0
  const outline = replaceIn(value, leaf => {
    if (!isNumbers(leaf) || leaf.byteLength < minBytes) return leaf
    const part = parts.get(leaf) ?? partOf(leaf, end)
    if (!parts.has(leaf)) end += part.length
    parts.set(leaf, part)
    return part
  })
  return { outline, parts }
}

/** A separate function, so that its closures do not keep the arrays alive. */
const storedIn = <Value>(
  file: TemporaryFile,
  outline: Value,
  parts: Part[],
): FileStored<Value> => ({
  async load() {
    const loaded = new Map<unknown, Numbers>()
    const left = parts.values()
    const readNext = async () => {
      for (const part of left) {
        const numbers = part.create(part.length)
        await file.read(bytesOf(numbers), part.position)
        loaded.set(part, numbers)
      }
    }
    await Promise.all(Array.from({ length: readers }, readNext))
    return replaceIn(outline, leaf => loaded.get(leaf) ?? leaf) as Value
  },
  discard: file.discard,
})

const isNumbers = (value: unknown): value is Numbers =>
  value instanceof Uint32Array ||
  value instanceof Uint16Array ||
  value instanceof Int32Array ||
  Buffer.isBuffer(value)

function partOf(numbers: Numbers, position: number): Part {
  const common = { position, length: numbers.byteLength }
  if (Buffer.isBuffer(numbers)) return { ...common, create: Buffer.allocUnsafeSlow }
  const { BYTES_PER_ELEMENT: size } = numbers
  const Type = numbers.constructor as Uint32ArrayConstructor
  return { ...common, create: bytes => new Type(bytes / size) }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Numbers) =>
  Buffer.from(buffer, byteOffset, byteLength)

/** A value with others in it, a copy as far as they differ. `replace` is called with all that it has. */
function replaceIn(value: unknown, replace: (leaf: unknown) => unknown): unknown {
  const other = replace(value)
  if (other !== value || typeof value !== 'object' || value === null) return other
  if (Array.isArray(value)) {
    const copy = value.map(one => replaceIn(one, replace))
    return copy.some((one, i) => one !== value[i]) ? copy : value
  }
  if (value instanceof Map) {
    const entries = replaceIn([...value], replace) as [unknown, unknown][]
    return entries.some(([key, one]) => value.get(key) !== one) ? new Map(entries) : value
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value)
  const copy = entries.map(([key, one]) => [key, replaceIn(one, replace)] as const)
  return copy.some(([, one], i) => one !== entries[i]![1]) ? Object.fromEntries(copy) : value
}
